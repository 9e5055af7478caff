git -c user.name=agent -c user.email=agent@localhost commit --quiet --allow-empty --message "Rename greet to greeting_for"
