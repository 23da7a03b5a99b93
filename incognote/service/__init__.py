"""incognote as a service that runs unattended."""
