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
  parseDescriptor,
  privatePositions,
  publicDescriptor,
  withChecksum
} from "./descriptors.ts"
import { outputTypeOf } from "./descriptorScripts.ts"
import { importChain } from "./documentChains.ts"
import { LOOKAHEAD } from "./KeyRing.ts"
import { makeSecret } from "./seal.ts"
import { importField } from "./Secrets.ts"
import { type Import, type LabelEntry, LONGEST_LABEL, LONGEST_TEXT, type WalletDocument } from "./WalletDocument.ts"

/**
 * Imports a descriptor into a document. Rules and error texts: upstream `wallet/rpc/backup.cpp`,
 * `ProcessDescriptorImport`.
 */

export interface ImportRequest {
  readonly descriptor: string
  readonly label: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly active: boolean
  readonly internal: boolean
  /** First and last index. */
  readonly range: readonly [number, number] | undefined
  readonly nextIndex: number | undefined
}

export interface PreparedImport {
  readonly entry: Import
  readonly warnings: ReadonlyArray<string>
  /** Adds the import to a document, in place of one with the same text, and labels its addresses. */
  readonly change: (document: WalletDocument) => WalletDocument
}

/** Maximum number of indexes in a range. */
const MAX_RANGE = 1_000_000

const refuse = (code: InvalidWalletRequest["code"], reason: string): Either.Either<never, InvalidWalletRequest> =>
  Either.left(new InvalidWalletRequest({ code, reason }))

const rangeProblem = (request: ImportRequest, ranged: boolean): string | undefined => {
  const { active, internal, label, nextIndex, range } = request
  if (!ranged) {
    if (range !== undefined) return "Range should not be specified for an un-ranged descriptor"
    if (active) return "Active descriptors must be ranged"
    if (internal && label !== "") return "Internal addresses should not have a label"
    return undefined
  }
  if (label !== "") return "Ranged descriptors should not have a label"
  if (range !== undefined) {
    const [first, last] = range
    if (first < 0) return "Range should be greater or equal than 0"
    if (last < first) return "Range specified as [begin,end] must not have begin after end"
    if (last >= 0x80000000) return "End of range is too high"
    if (last - first >= MAX_RANGE) return "Range is too large"
  }
  if (nextIndex !== undefined) {
    const [first, last] = range ?? [0, LOOKAHEAD - 1]
    if (nextIndex < first || nextIndex > last) return "next_index is out of range"
  }
  return undefined
}

/** The conflict between the private keys of a descriptor and the kind of the wallet. */
const keysProblem = (document: WalletDocument, descriptor: Descriptor): string | undefined => {
  const held = privatePositions(descriptor).length > 0
  if (held && !document.privateKeys) return "Cannot import private keys to a wallet with private keys disabled"
  if (!held && document.privateKeys) {
    return "Cannot import descriptor without private keys to a wallet with private keys enabled"
  }
  return undefined
}

/** The addresses of a descriptor without range, with its label. Change addresses have no label. */
const labelsOf = (network: Network, entry: Import): ReadonlyArray<LabelEntry> => {
  const { label } = entry
  if (entry.internal || entry.range !== undefined) return []
  return importChain(network, entry, 0).derive().scripts.flatMap(({ script }) => {
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
    // A watch-only wallet stays blank, as upstream.
    blank: document.blank && !document.privateKeys,
    imports: [...imports, entry],
    labels: [...document.labels.filter(({ address }) => !labelled.has(address)), ...labels]
  }
}

const activeType = ({ network }: WalletDocument, { descriptor }: Import) =>
  Either.match(parseDescriptor(networks[network], descriptor), { onLeft: () => undefined, onRight: outputTypeOf })

/**
 * Validates an import. In an encrypted wallet, `sealingKey` seals its private keys (`Secrets.sealingKey`); it is
 * `undefined` while the wallet is locked.
 */
export const prepareImport = (
  document: WalletDocument,
  request: ImportRequest,
  sealingKey: Bytes | undefined
): Either.Either<PreparedImport, InvalidWalletRequest | KeysLocked> =>
  Either.gen(function*() {
    const network = networks[document.network]
    if (request.label.length > LONGEST_LABEL) {
      return yield* refuse("range", `Label is too long: it may have ${LONGEST_LABEL} characters`)
    }
    const descriptor = yield* parseDescriptor(network, request.descriptor)
    const ranged = isRangedDescriptor(descriptor)
    const range = rangeProblem(request, ranged)
    if (range !== undefined) return yield* refuse("range", range)
    if (request.active && outputTypeOf(descriptor) === undefined) {
      return yield* refuse("not-eligible", "Combo descriptors cannot be set to active")
    }
    const keys = keysProblem(document, descriptor)
    if (keys !== undefined) return yield* refuse("no-keys", keys)
    const shown = yield* faultless(() => publicDescriptor(descriptor))
    const text = descriptorText(network, shown)
    const whole = descriptorText(network, descriptor)
    // A public key is longer than the private key that it replaces.
    if (Math.max(text.length, whole.length) > LONGEST_TEXT) {
      return yield* refuse("descriptor", `Descriptor is too long: it may have ${LONGEST_TEXT} characters`)
    }
    const privateKeys = privatePositions(descriptor)
    if (privateKeys.length > 0 && document.encryption !== undefined && sealingKey === undefined) {
      return yield* Either.left(new KeysLocked())
    }
    const before = document.imports.find((entry) => entry.descriptor === text)
    const [first, last] = request.range ?? [0, LOOKAHEAD - 1]
    if (ranged && before?.range !== undefined && (before.range[0] < first || before.range[1] > last + 1)) {
      const wanted = `[${before.range[0]},${before.range[1] - 1}]`
      return yield* refuse("range", `new range must include current range = ${wanted}`)
    }
    const entry: Import = {
      descriptor: text,
      label: request.label,
      timestamp: before === undefined ? request.timestamp : Math.min(before.timestamp, request.timestamp),
      active: request.active,
      internal: request.internal,
      ...ranged ? { range: [first, last + 1] as const } : {},
      next: Math.max(before?.next ?? 0, request.nextIndex ?? (ranged ? first : 0)),
      privateKeys,
      ...privateKeys.length === 0
        ? {}
        : { secret: makeSecret(sealingKey, { field: importField(text), text: whole }) }
    }
    const warnings = [
      ...ranged && request.range === undefined ? ["Range not given, using default keypool range"] : [],
      ...privateKeys.length > 0 && privateKeys.length < keysOf(descriptor).length
        ? ["Not all private keys provided. Some wallet functionality may return unexpected errors"]
        : []
    ]
    return { entry, warnings, change: replacing(entry, labelsOf(network, entry)) }
  })

/** The descriptor of all scripts that pay to a private key. */
export const keyDescriptor = (network: Network, key: ImportedKey): string =>
  withChecksum(`combo(${encodeWif(network, key)})`)

/** Parses a private key in wallet import format. The error does not contain the key. */
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
