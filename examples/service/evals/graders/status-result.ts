import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { EvalGraderFunction } from 'agent-bundle/eval';

const isHealthy = (value: unknown): boolean => (value as { state?: string } | null)?.state === 'healthy';

const grade: EvalGraderFunction = async ({ fixturePath }) => {
  const result = JSON.parse(await readFile(join(fixturePath, 'result.json'), 'utf8')) as unknown;
  return isHealthy(result)
    ? { detail: 'The service reports healthy.', outcome: 'pass' }
    : { detail: 'The service does not report healthy.', outcome: 'fail' };
};

export default grade;
