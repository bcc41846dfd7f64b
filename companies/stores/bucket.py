"""Files in a bucket of an S3-compatible store, which fails as a disk does: with an OSError."""

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

# A request waits for the store: it is told soon that it has to come again, not after the client's usual minutes.
PATIENCE = Config(connect_timeout=3, read_timeout=15, retries={"total_max_attempts": 2})
DOWNLOADS = 2  # attempts at one that breaks off; each may have waited as long


def as_a_disk(act: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever the store refuses, or does not answer, is an input/output error."""

    @wraps(act)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return act(*args, **kwargs)
        except (BotoCoreError, Boto3Error, ClientError, RetriesExceededError) as error:
            raise OSError(errno.EIO, f"the store: {type(error).__name__}") from error

    return wrapped


class Bucket(S3Storage):
    """What the settings name for s3:// addresses."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.client_config: Config = self.client_config.merge(PATIENCE)
        self.transfer_config = TransferConfig(use_threads=False, num_download_attempts=DOWNLOADS)

    @as_a_disk
    def _open(self, name: str, mode: str = "rb") -> Any:
        file = super()._open(name, mode)
        _ = file.file  # fetched now: once an answer has begun there is no other
        return file

    _save = as_a_disk(S3Storage._save)  # noqa: SLF001 - what Django's storages override
    delete = as_a_disk(S3Storage.delete)
    exists = as_a_disk(S3Storage.exists)
    listdir = as_a_disk(S3Storage.listdir)
    size = as_a_disk(S3Storage.size)
    get_modified_time = as_a_disk(S3Storage.get_modified_time)
