"""S3 storage that raises OSError like a disk."""

import errno
from collections.abc import Callable
from functools import wraps
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3Storage

# A request waits for the store: fail soon, not after the client's default of minutes.
CLIENT_CONFIG = Config(connect_timeout=3, read_timeout=15, retries={"total_max_attempts": 2})
MAX_DOWNLOAD_ATTEMPTS = 2  # per file; each may wait as long


def raise_os_errors(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a storage operation so that errors of the object store are raised as OSError (EIO)."""

    @wraps(operation)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return operation(*args, **kwargs)
        except (BotoCoreError, Boto3Error, ClientError, RetriesExceededError) as error:
            raise OSError(errno.EIO, f"the store: {type(error).__name__}") from error

    return wrapped


class BucketStorage(S3Storage):
    """Storage configured for s3:// URLs."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.client_config: Config = self.client_config.merge(CLIENT_CONFIG)
        self.transfer_config = TransferConfig(use_threads=False, num_download_attempts=MAX_DOWNLOAD_ATTEMPTS)

    @raise_os_errors
    def _open(self, name: str, mode: str = "rb") -> Any:
        file = super()._open(name, mode)
        _ = file.file  # fetched now: once a response has started it cannot change
        return file

    @raise_os_errors
    def _save(self, name: str, content: Any) -> Any:
        return super()._save(name, content)

    delete = raise_os_errors(S3Storage.delete)
    exists = raise_os_errors(S3Storage.exists)
    listdir = raise_os_errors(S3Storage.listdir)
    size = raise_os_errors(S3Storage.size)
    get_modified_time = raise_os_errors(S3Storage.get_modified_time)
