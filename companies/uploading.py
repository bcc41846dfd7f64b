"""Files on their way in: none larger than the settings allow is written to the disk."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload


class Bounded(FileUploadHandler):
    """Stops keeping a form's files once they are larger together than MAX_UPLOAD_MB; the rest of the body is read and
    thrown away, so that whoever sent it gets an answer. The form then has no file."""

    def __init__(self, request: Any = None):
        super().__init__(request)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_MB * 1024 * 1024:
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The handlers behind this one keep the file."""
