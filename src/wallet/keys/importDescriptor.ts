import * as Either from "effect/Either"
import { addressOf } from "../../protocol/address.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type Network, networks } from "../../protocol/networks.ts"
import { encodeWif, type ImportedKey, parseWif } from "../../protocol/wif.ts"
import { InvalidWalletRequest, KeysLocked } from "../errors.ts"
import {
  type Descriptor,
  descriptorText,
  faultless,
  isRangedDescriptor,
  keysOf,
  privatePositions,
  publicDescriptor,
  withChecksum
} from "./descriptors.ts"
import { outputTypeOf } from "./descriptorScripts.ts"
import { importChain } from "./documentChains.ts"
import { deriveHardened, hardenedPositions, type IndexRange } from "./hardenedKeys.ts"
import { LOOKAHEAD } from "./KeyRing.ts"
import { descriptorWarnings, parseDescriptor, parseDescriptors } from "./parseDescriptor.ts"
import { makeSecret } from "./seal.ts"
import { importField } from "./Secrets.ts"
import {
  type HardenedKeys,
  type Import,
  type LabelEntry,
  LONGEST_DESCRIPTOR,
  LONGEST_LABEL,
  type WalletDocument
} from "./WalletDocument.ts"

/** Rules and error texts: upstream `wallet/rpc/backup.cpp`, `ProcessDescriptorImport`. */

export interface ImportRequest {
  readonly descriptor: string
  readonly label: string | undefined
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly active: boolean
  /** Must be `undefined` for alternative paths. */
  readonly internal: boolean | undefined
  /** First and last index. */
  readonly range: readonly [number, number] | undefined
  readonly nextIndex: number | undefined
  /** For a request without range; `LOOKAHEAD` if omitted. */
  readonly lookahead?: number | undefined
}

export interface PreparedImport {
  /** The first entry; a descriptor with alternative paths (BIP 389) has several. */
  readonly entry: Import
  readonly entries: ReadonlyArray<Import>
  readonly warnings: ReadonlyArray<string>
  /** Adds the imports in place of those with the same text, and labels their addresses. */
  readonly change: (document: WalletDocument) => WalletDocument
}

const MAX_RANGE = 1_000_000

const refuse = (code: InvalidWalletRequest["code"], reason: string): Either.Either<never, InvalidWalletRequest> =>
  Either.left(new InvalidWalletRequest({ code, reason }))

const rangeProblem = (request: ImportRequest, ranged: boolean): string | undefined => {
  const { lookahead = LOOKAHEAD, nextIndex, range } = request
  if (!ranged) return range === undefined ? undefined : "Range should not be specified for an un-ranged descriptor"
  if (range !== undefined) {
    const [first, last] = range
    if (first >= 0 && last < 0) return "End of range is too high"
    if (last < first) return "Range specified as [begin,end] must not have begin after end"
    if (first < 0) return "Range should be greater or equal than 0"
    if (last >= 0x80000000) return "End of range is too high"
    if (last - first >= MAX_RANGE) return "Range is too large"
  }
  if (nextIndex !== undefined) {
    const [first, last] = range ?? [0, lookahead - 1]
    if (nextIndex < first || nextIndex > last) return "next_index is out of range"
  }
  return undefined
}

const useProblem = (
  { active, internal, label }: ImportRequest,
  { count, ranged }: { readonly count: number; readonly ranged: boolean }
): string | undefined => {
  if (active && !ranged) return "Active descriptors must be ranged"
  if (label === undefined || label === "") return undefined
  if (count > 1) return "Multipath descriptors should not have a label"
  if (ranged) return "Ranged descriptors should not have a label"
  return internal === true ? "Internal addresses should not have a label" : undefined
}

const KEYS_DISABLED = "Cannot import private keys to a wallet with private keys disabled"

const KEYS_NEEDED = "Cannot import descriptor without private keys to a wallet with private keys enabled"

const RANGE_MISSING = "Range not given, using default keypool range"

const KEYS_INCOMPLETE = "Not all private keys provided. Some wallet functionality may return unexpected errors"

/** For descriptors without range. Change addresses have no label. */
const labelsOf = (network: Network, entry: Import): ReadonlyArray<LabelEntry> => {
  const { label } = entry
  if (entry.internal || entry.range !== undefined) return []
  return importChain(network, entry, 0).scripts(0).flatMap(({ script }) => {
    const address = addressOf(network, script)
    return address === undefined ? [] : [{ address, label, purpose: "receive" as const }]
  })
}

const replacing = (entry: Import, labels: ReadonlyArray<LabelEntry>) => (document: WalletDocument): WalletDocument => {
  if (document.encryption !== undefined && entry.secret !== undefined && "plain" in entry.secret) {
    throw new TypeError("the wallet was encrypted while a key was being imported")
  }
  const at = document.imports.findIndex(({ descriptor }) => descriptor === entry.descriptor)
  const others = document.imports.filter((_, index) => index !== at)
  const type = activeType(document, entry)
  const imports = entry.active
    ? others.map((each) =>
      each.active && each.internal === entry.internal && activeType(document, each) === type
        ? { ...each, active: false }
        : each
    )
    : others
  const labelled = new Set(labels.map(({ address }) => address))
  return {
    ...document,
    // As upstream, a watch-only wallet stays blank.
    blank: document.blank && !document.privateKeys,
    imports: [...imports, entry],
    labels: [...document.labels.filter(({ address }) => !labelled.has(address)), ...labels]
  }
}

const activeType = ({ network }: WalletDocument, { descriptor }: Import) =>
  Either.match(parseDescriptor(networks[network], descriptor), { onLeft: () => undefined, onRight: outputTypeOf })

interface Part {
  readonly descriptor: Descriptor
  readonly internal: boolean
}

/** Hardened keys are derived at once. */
const MOST_HARDENED = 10_000

const hardenedOf = (
  descriptor: Descriptor,
  range: IndexRange
): Either.Either<ReadonlyArray<HardenedKeys>, InvalidWalletRequest> =>
  range[1] - range[0] > MOST_HARDENED
    ? refuse("range", `Range is too large: ${MOST_HARDENED} hardened keys are the maximum`)
    : faultless(() => deriveHardened(descriptor, range))

const entryOf = (
  document: WalletDocument,
  { descriptor, internal }: Part,
  { request, sealingKey }: { readonly request: ImportRequest; readonly sealingKey: Bytes | undefined }
): Either.Either<Import, InvalidWalletRequest | KeysLocked> =>
  Either.gen(function*() {
    const network = networks[document.network]
    const privateKeys = privatePositions(descriptor)
    const shown = yield* Either.mapLeft(
      faultless(() => publicDescriptor(descriptor)),
      ({ reason }) => new InvalidWalletRequest({ code: "no-keys", reason })
    )
    if (privateKeys.length === 0 && document.privateKeys) return yield* refuse("no-keys", KEYS_NEEDED)
    const text = descriptorText(network, shown)
    const whole = descriptorText(network, descriptor)
    // Replacing a private key by its public key lengthens the text.
    if (Math.max(text.length, whole.length) > LONGEST_DESCRIPTOR) {
      return yield* refuse("descriptor", `Descriptor is too long: it may have ${LONGEST_DESCRIPTOR} characters`)
    }
    if (privateKeys.length > 0 && document.encryption !== undefined && sealingKey === undefined) {
      return yield* Either.left(new KeysLocked({}))
    }
    const ranged = isRangedDescriptor(descriptor)
    const before = document.imports.find((entry) => entry.descriptor === text)
    const [first, last] = request.range ?? [0, (request.lookahead ?? LOOKAHEAD) - 1]
    if (ranged && before?.range !== undefined && (before.range[0] < first || before.range[1] > last + 1)) {
      const wanted = `[${before.range[0]},${before.range[1] - 1}]`
      const reason = `new range must include current range = ${wanted}`
      return yield* refuse("no-keys", `Could not add descriptor '${text}': ${reason}`)
    }
    // A given-out index stays so; otherwise the range begins at its first index.
    const taken = before === undefined || before.next <= (before.range?.[0] ?? 0) ? 0 : before.next
    const next = Math.max(taken, request.nextIndex ?? (ranged ? first : 0))
    const hardened = hardenedPositions(descriptor).length === 0
      ? undefined
      : yield* hardenedOf(descriptor, [first, Math.max(last + 1, next + (request.lookahead ?? LOOKAHEAD))])
    return {
      descriptor: text,
      label: request.label ?? "",
      timestamp: before === undefined ? request.timestamp : Math.min(before.timestamp, request.timestamp),
      active: request.active && outputTypeOf(descriptor) !== undefined,
      internal,
      ...ranged ? { range: [first, last + 1] as const } : {},
      next,
      privateKeys,
      ...hardened === undefined ? {} : { hardened },
      ...privateKeys.length === 0
        ? {}
        : { secret: makeSecret(sealingKey, { field: importField(text), text: whole }) }
    }
  })

/** In upstream's order. */
const requestProblem = (
  document: WalletDocument,
  request: ImportRequest,
  descriptors: ReadonlyArray<Descriptor>
): InvalidWalletRequest | undefined => {
  const [first] = descriptors
  if (first === undefined) throw new TypeError("a text has no descriptor")
  const ranged = isRangedDescriptor(first)
  if (descriptors.length > 1 && request.internal !== undefined) {
    const reason = "Cannot have multipath descriptor while also specifying 'internal'"
    return new InvalidWalletRequest({ code: "descriptor", reason })
  }
  const reason = rangeProblem(request, ranged) ?? useProblem(request, { count: descriptors.length, ranged })
  if (reason !== undefined) return new InvalidWalletRequest({ code: "range", reason })
  if (request.active && first.name === "combo") {
    return new InvalidWalletRequest({ code: "not-eligible", reason: "Combo descriptors cannot be set to active" })
  }
  return !document.privateKeys && descriptors.some((each) => privatePositions(each).length > 0)
    ? new InvalidWalletRequest({ code: "no-keys", reason: KEYS_DISABLED })
    : undefined
}

const warningsOf = (request: ImportRequest, descriptor: Descriptor): ReadonlyArray<string> => {
  const held = privatePositions(descriptor).length
  return [
    ...descriptorWarnings(descriptor),
    ...held > 0 && held < keysOf(descriptor).length ? [KEYS_INCOMPLETE] : [],
    ...request.active && outputTypeOf(descriptor) === undefined
      ? ["Unknown output type, cannot set descriptor to active."]
      : []
  ]
}

/** `sealingKey` seals private keys; `undefined` while locked. A refusal carries the preceding warnings. */
export const prepareImport = (
  document: WalletDocument,
  request: ImportRequest,
  sealingKey: Bytes | undefined
): Either.Either<PreparedImport, InvalidWalletRequest | KeysLocked> =>
  Either.gen(function*() {
    const network = networks[document.network]
    if ((request.label ?? "").length > LONGEST_LABEL) {
      return yield* refuse("range", `Label is too long: it may have ${LONGEST_LABEL} characters`)
    }
    const descriptors = yield* parseDescriptors(network, request.descriptor)
    const ranged = descriptors.some(isRangedDescriptor)
    const warnings = ranged && request.range === undefined ? [RANGE_MISSING] : []
    const warned = (failure: InvalidWalletRequest | KeysLocked) =>
      failure._tag === "KeysLocked" || warnings.length === 0
        ? failure
        : new InvalidWalletRequest({ code: failure.code, reason: failure.reason, warnings })
    const problem = requestProblem(document, request, descriptors)
    if (problem !== undefined) return yield* Either.left(warned(problem))
    const entries: Array<Import> = []
    for (const [at, descriptor] of descriptors.entries()) {
      warnings.push(...warningsOf(request, descriptor))
      const internal = descriptors.length === 2 ? at === 1 : request.internal ?? false
      const entry = entryOf(document, { descriptor, internal }, { request, sealingKey })
      entries.push(yield* Either.mapLeft(entry, warned))
    }
    const [entry] = entries
    if (entry === undefined) throw new TypeError("an import has no entry")
    const changes = entries.map((each) => replacing(each, labelsOf(network, each)))
    return {
      entry,
      entries,
      warnings,
      change: (document) => changes.reduce((now, change) => change(now), document)
    }
  })

export const keyDescriptor = (network: Network, key: ImportedKey): string =>
  withChecksum(`combo(${encodeWif(network, key)})`)

/** Wallet import format. The error does not contain the key. */
export const parsePrivateKey = (
  network: Network,
  text: string
): Either.Either<ImportedKey, InvalidWalletRequest> => {
  const key = parseWif(network, text)
  if (!("error" in key)) return Either.right(key)
  const reason = key.error === "not a private key of this network"
    ? `the private key is for another network, not for ${network.name}`
    : `this is not a private key in wallet import format: ${key.error}`
  return refuse("descriptor", reason)
}
