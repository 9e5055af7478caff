echo "Thank you for your letter."
