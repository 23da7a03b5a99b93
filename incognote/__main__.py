"""`python -m incognote` is `incognote`."""

from incognote.cli import main

if __name__ == "__main__":
    main()
