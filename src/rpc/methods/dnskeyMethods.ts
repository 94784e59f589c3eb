import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { dnsRecordText } from "../../dns/recordText.ts"
import type { PhasedKey } from "../../dns/sign/keysAt.ts"
import { dnskeyOf, dsOf, keyTag } from "../../dns/sign/zoneKey.ts"
import { DnssecOff, type RollUnderWay, ZoneKeys } from "../../dns/sign/ZoneKeys.ts"
import { BIT_ORIGIN } from "../../dns/zone/suffix.ts"
import type { StorageUnavailable } from "../../storage/errors.ts"
import { LISTDNSKEYS, ROLLDNSKEY } from "../contract/control/dnskey.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

/** Only in svcd (docs/dns.md). */

const keyError = (failure: DnssecOff | RollUnderWay | StorageUnavailable): RpcError =>
  failure._tag === "StorageUnavailable" ? storageError(failure) : RpcError.misc(failure.message)

const keyJson = ({ key, phase, until }: PhasedKey) => {
  const record = dnskeyOf(key, phase === "revoked")
  return {
    keytag: keyTag(record),
    state: phase,
    created: key.created,
    until: until ?? null,
    dnskey: dnsRecordText(record),
    ds: dnsRecordText(dsOf(BIT_ORIGIN, record))
  }
}

const keysJson = { onFailure: keyError, onSuccess: (keys: ReadonlyArray<PhasedKey>) => keys.map(keyJson) }

const OFF = { list: new DnssecOff(), roll: new DnssecOff() }

/** A node without a DNS server has no keys either. */
export const dnskeyMethods: Methods = Effect.map(
  Effect.serviceOption(ZoneKeys),
  (keys) => {
    const { list, roll } = Option.getOrElse(keys, () => OFF)
    return [
      method(LISTDNSKEYS, () => Effect.mapBoth(list, keysJson)),
      method(ROLLDNSKEY, () => Effect.mapBoth(roll, keysJson))
    ]
  }
)
