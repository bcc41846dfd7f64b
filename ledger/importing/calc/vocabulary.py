"""Values that banks write for directions and statuses, in the languages of the headings."""

from collections.abc import Iterable

from ledger.importing.calc.headings import fold_heading


def _fold(words: str) -> frozenset[str]:
    return frozenset(fold_heading(word) or word for word in words.split("|"))


OUT = _fold(
    "d|dr|db|dbit|debit|debits|debt|out|outgoing|-|s|soll|lastschrift|belastung|af|debet|uit|ausgang|ausgabe|débit|sortie|dare|"
    "uscita|addebito|cargo|débito|debe|gasto|egreso|saída|obciążenie|wydatek|wn|výdaj|na vrub|má dáti|terhelés|tartozik|kiadás|"
    "t|isplata|duguje|breme|χρέωση|x|uttag|ut|ud|hævet|otto|deebet|debets|debetas|дебет|расход|списание|видаток|borç|gider|支|支出|借|借方|"
    "出金|出|money out|withdrawal|expense|payment|paid out|spent|sent|abgang|payment out|negative|send|charge|purchase"
)
IN = _fold(
    "c|cr|crdt|credit|credits|in|incoming|+|h|haben|gutschrift|bij|eingang|einnahme|crédit|entrée|avere|entrata|accredito|abono|"
    "crédito|haber|ingreso|entrada|uznanie|wpływ|ma|příjem|ve prospěch|dal|jóváírás|követel|bevétel|j|k|uplata|potražuje|dobro|πίστωση|π|"
    "insättning|inn|ind|indsat|pano|kreedit|kredīts|kreditas|kredit|кредит|приход|зачисление|поступление|надходження|alacak|gelir|收|收入|贷|贷方|貸|貸方|"
    "入金|入|money in|deposit|income|paid in|received|zugang|payment in|positive|receive|refund"
)
SHORT = {"d", "c", "s", "h", "t", "j", "k", "x", "π", "ma", "dal", "in", "out", "i", "o"}
BOOKED = _fold(
    "completed|complete|booked|settled|cleared|posted|success|succeeded|successful|paid|done|executed|processed|confirmed|final|"
    "closed|c|gebucht|abgeschlossen|ausgeführt|erledigt|umsatz gebucht|verbucht|exécuté|terminé|comptabilisé|completado|contabilizado|realizado|"
    "completato|contabilizzato|eseguita|concluído|processado|geboekt|verwerkt|uitgevoerd|zaksięgowano|zaksięgowana|wykonano|rozliczono|"
    "zrealizowana|zrealizowano|zakończona|zaúčtováno|zaúčtovaná|provedeno|vykonané|dokončeno|könyvelt|teljesült|lekönyvelt|finalizat|procesat|"
    "bokförd|genomförd|bogført|gennemført|udført|bokført|utført|suoritettu|kirjattu|выполнено|исполнено|исполнен|проведено|виконано|ok|tamamlandı|交易成功|成功|"
    "已完成|支付成功|已支付|完了|確定|完了済|已收钱|已转账|available|vykdyta|izpildīts|izvršeno|transaction completed|payout|aktiv"
)
PENDING = _fold(
    "pending|in progress|processing|authorized|authorised|authorization|reserved|on hold|uncleared|scheduled pending|p|vorgemerkt|"
    "ausstehend|in bearbeitung|umsatz vorgemerkt|offen|en attente|en cours|pendiente|retenido|in sospeso|in attesa|pendente|in behandeling|gereserveerd|"
    "oczekująca|w trakcie|blokada|čeká na zpracování|nezaúčtováno|čekající|čaká|függő|zárolt|függőben|in asteptare|väntande|reserverad|"
    "afventer|reserveret|reservert|venter|odottaa|varaus|odottava|в обработке|ожидание|в обробці|bekliyor|処理中|未確定|保留|处理中|laukiama|u obradi|awaiting payment"
)
LEFT_OUT = _fold(
    "failed|declined|rejected|reverted|cancelled|canceled|void|voided|expired|denied|aborted|error|deleted|removed|blocked|"
    "fehlgeschlagen|abgelehnt|storniert|abgebrochen|widerrufen|refusé|annulé|échoué|rechazado|cancelado|anulado|fallido|rifiutato|annullato|"
    "recusado|falhado|geweigerd|geannuleerd|mislukt|odrzucona|odrzucono|anulowana|zamítnuto|zrušeno|odmietnuté|zrušené|elutasított|sikertelen|törölt|"
    "respins|anulat|avbruten|nekad|misslyckad|afvist|annulleret|avvist|kansellert|hylätty|peruttu|отклонено|отклонена|отменено|відхилено|скасовано|"
    "iptal|reddedildi|交易关闭|已关闭|失败|取消|失敗|已取消|キャンセル|失効"
)


def find_direction(value: str) -> str | None:
    """``in`` or ``out`` for a word that means one of them, else None.

    >>> find_direction("Af"), find_direction("S"), find_direction("收"), find_direction("Type")
    ('out', 'out', 'in', None)
    """
    plain = fold_heading(value) or value.strip()
    if plain in OUT:
        return "out"
    return "in" if plain in IN else None


def find_status(value: str) -> str | None:
    """``booked``, ``pending`` or ``leaveOut`` for a word that means one of them, else None.

    >>> find_status("Vorgemerkt"), find_status("REVERTED"), find_status("Refunded")
    ('pending', 'leaveOut', None)
    """
    plain = fold_heading(value)
    for kind, words in (("booked", BOOKED), ("pending", PENDING), ("leaveOut", LEFT_OUT)):
        if plain in words:
            return kind
    return None


def is_direction_column(values: Iterable[str]) -> bool:
    """Whether all values are words for directions, and of more than one kind or so plain that they mean nothing else."""
    found = [find_direction(value) for value in values]
    return bool(found) and None not in found and (len(set(found)) > 1)
