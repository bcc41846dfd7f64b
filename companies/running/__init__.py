"""What running the service needs beside requests: mail, counters, compression, progress."""
