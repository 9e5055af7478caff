echo "Dear Ada, on Sundays the library is closed. Kind regards."
