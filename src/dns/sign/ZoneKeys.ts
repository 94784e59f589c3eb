import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { makeDirectoryDurably, replaceFile } from "../../base/atomicFile.ts"
import { unixTime } from "../../base/clock.ts"
import { entriesAside, fileAside } from "../../base/disk.ts"
import { keepPrivate } from "../../base/privateFile.ts"
import { lasting } from "../../base/verdict.ts"
import { dnsSignatures } from "../../metrics/dnsMetrics.ts"
import { StorageCorrupted, type StorageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
import type { ZoneSigner } from "../parts.ts"
import type { WireName } from "../wire/name.ts"
import { isKeyFileName, keyFileName, LONGEST_KEY_FILE, printKeyFile, readKeyFile } from "./keyFile.ts"
import { keysAt, type PhasedKey, rollEnd } from "./keysAt.ts"
import { makeSigner } from "./signer.ts"
import { dnskeyOf, keyTag, newKeySecret, type ZoneKey, zoneKeyOf } from "./zoneKey.ts"

/** The node runs without `-dnssec`. */
export class DnssecOff extends Schema.TaggedError<DnssecOff>()("DnssecOff", {}, lasting(409)) {
  override get message(): string {
    return "the zone is not signed: start svcd with -dnssec=1"
  }
}

/** A rollover begins when the one before has ended. */
export class RollUnderWay extends Schema.TaggedError<RollUnderWay>()("RollUnderWay", {
  /** Seconds since 1970. */
  until: Schema.Int
}, lasting(409)) {
  override get message(): string {
    return `a rollover of the zone's key is under way until ${
      new Date(1000 * this.until).toISOString().slice(0, 10)
    }: start the next one after that`
  }
}

/** The keys of the zone, with their files in `dns/` of the data directory. */
export class ZoneKeys extends Context.Tag("svcd/dns/ZoneKeys")<ZoneKeys, {
  /** `undefined` without `-dnssec`. */
  readonly signer: ZoneSigner | undefined
  /** The oldest key first. */
  readonly list: Effect.Effect<ReadonlyArray<PhasedKey>, DnssecOff>
  /** Makes the key that replaces the active one; `keysAt` has the times. Returns all keys. */
  readonly roll: Effect.Effect<ReadonlyArray<PhasedKey>, DnssecOff | RollUnderWay | StorageUnavailable>
}>() {}

export interface ZoneKeysOptions {
  readonly zone: WireName
  readonly directory: string
}

const damaged = ({ file, found }: { readonly file: string; readonly found: string }): StorageCorrupted =>
  new StorageCorrupted({
    file,
    found,
    remedy: "Restore it from a backup. svcd makes a new key only if dns/ in the data directory has no file K*.json, " +
      "and then each validating resolver needs the new DS record (svcd-cli dnskey show)"
  })

const readKey = (file: string, zone: WireName): Effect.Effect<ZoneKey, StorageCorrupted | StorageUnavailable> =>
  Effect.gen(function*() {
    keepPrivate(file)
    const bytes = yield* io({ file, doing: "reading" }, () => fileAside(file))
    if (bytes.length > LONGEST_KEY_FILE) return yield* damaged({ file, found: `it has ${bytes.length} bytes` })
    const key = readKeyFile(bytes.toString("utf8"), zone)
    return typeof key === "string" ? yield* damaged({ file, found: key }) : key
  })

const readKeys = ({ directory, zone }: ZoneKeysOptions) =>
  Effect.gen(function*() {
    const files = yield* io({ file: directory, doing: "reading" }, () => entriesAside(directory))
    return yield* Effect.forEach(files.filter(isKeyFileName), (file) => readKey(join(directory, file), zone))
  })

/** The tags of a key, before and after it is revoked. Validators and files tell keys apart by them. */
const tagsOf = (key: ZoneKey): ReadonlyArray<number> => [false, true].map((revoked) => keyTag(dnskeyOf(key, revoked)))

/** Makes a key with tags that no other key has, and keeps it before anyone sees it. */
const newKey = (
  { directory, zone }: ZoneKeysOptions,
  others: ReadonlyArray<ZoneKey>
): Effect.Effect<ZoneKey, StorageUnavailable> =>
  Effect.gen(function*() {
    const secret = newKeySecret()
    const key = zoneKeyOf(secret, yield* unixTime)
    if (key === undefined) return yield* Effect.dieMessage("a new secret is not on the curve")
    const taken = new Set(others.flatMap(tagsOf))
    if (tagsOf(key).some((tag) => taken.has(tag))) return yield* newKey({ directory, zone }, others)
    const file = join(directory, keyFileName(zone, key))
    yield* io({ file, doing: "writing" }, () => replaceFile(file, [printKeyFile(zone, secret, key)]))
    yield* Effect.logInfo("new DNSSEC key of the zone", { file, keyTag: keyTag(dnskeyOf(key)) })
    return key
  })

const make = (options: ZoneKeysOptions) =>
  Effect.gen(function*() {
    yield* io({ file: options.directory, doing: "making" }, () => makeDirectoryDurably(options.directory))
    const found = yield* readKeys(options)
    let keys: ReadonlyArray<ZoneKey> = found.length > 0 ? found : [yield* newKey(options, [])]
    const clock = yield* Effect.clock
    const signer = makeSigner({
      zone: options.zone,
      keys: () => keys,
      now: () => Math.floor(clock.unsafeCurrentTimeMillis() / 1000),
      onSigned: () => dnsSignatures.increase()
    })
    const list = Effect.map(unixTime, (now) => keysAt(keys, now))
    const turn = yield* Effect.makeSemaphore(1)
    const roll = Effect.gen(function*() {
      const until = rollEnd(keys, yield* unixTime)
      if (until !== undefined) return yield* new RollUnderWay({ until })
      keys = [...keys, yield* newKey(options, keys)]
      return yield* list
    }).pipe(
      Effect.uninterruptible,
      turn.withPermits(1),
      // RPC calls it, and would log the new key as its own.
      Effect.annotateLogs("subsystem", "dns")
    )
    return ZoneKeys.of({ signer, list, roll })
  }).pipe(Effect.annotateLogs("subsystem", "dns"))

/** Fails if a file of a key is damaged, rather than make a key that no validator knows. */
export const layer = (
  options: ZoneKeysOptions
): Layer.Layer<ZoneKeys, StorageCorrupted | StorageUnavailable> => Layer.effect(ZoneKeys, make(options))

/** Without `-dnssec`. */
export const layerUnsigned: Layer.Layer<ZoneKeys> = Layer.succeed(ZoneKeys, {
  signer: undefined,
  list: Effect.fail(new DnssecOff()),
  roll: Effect.fail(new DnssecOff())
})
