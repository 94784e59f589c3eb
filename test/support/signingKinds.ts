import { FastCheck } from "effect"
import { scriptOf } from "../../src/protocol/address.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { concat } from "../../src/protocol/bytes.ts"
import { hash160, sha256 } from "../../src/protocol/hash.ts"
import { nameScript } from "../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import {
  makeProvider,
  publicKeyOf,
  type SigningKey,
  type SigningProvider
} from "../../src/wallet/signing/SigningProvider.ts"
import { makeTaproot } from "../../src/wallet/signing/taprootTree.ts"
import { secretKeys } from "./keys.ts"
import { pushNumber } from "./scriptAssembly.ts"

/** Outputs of every kind that can be signed, and what their owner knows. */
export interface SigningKind {
  readonly name: string
  /** Whether its signatures cover amounts. */
  readonly segwit: boolean
  readonly taproot: boolean
  /** The required keys, by their places in the list. */
  readonly make: (keys: ReadonlyArray<SigningKey>) => { readonly script: Bytes; readonly provider: SigningProvider }
  readonly compressedOnly: boolean
}

const checksig = (pubkey: Bytes): Uint8Array => concat(pushData(pubkey), Uint8Array.of(Op.OP_CHECKSIG))
const pkh = (pubkey: Bytes): Uint8Array => scriptOf({ kind: "pubkeyhash", hash: hash160(pubkey) })
const sh = (script: Bytes): Uint8Array => scriptOf({ kind: "scripthash", hash: hash160(script) })
const program = (version: number, bytes: Bytes): Uint8Array => scriptOf({ kind: "witness", version, program: bytes })
const wsh = (script: Bytes): Uint8Array => program(0, sha256(script))

const multi = (required: number, pubkeys: ReadonlyArray<Bytes>): Uint8Array =>
  concat(
    pushNumber(required),
    ...pubkeys.map(pushData),
    pushNumber(pubkeys.length),
    Uint8Array.of(Op.OP_CHECKMULTISIG)
  )

/** `multi_a` of x-only keys. */
export const multiA = (required: number, keys: ReadonlyArray<Bytes>): Uint8Array =>
  concat(
    ...keys.map((key, n) => concat(pushData(key), Uint8Array.of(n === 0 ? Op.OP_CHECKSIG : Op.OP_CHECKSIGADD))),
    pushNumber(required),
    Uint8Array.of(Op.OP_NUMEQUAL)
  )

const xOf = (key: SigningKey): Uint8Array => publicKeyOf({ ...key, compressed: true }).subarray(1)

type Wrap = "bare" | "sh" | "wsh" | "sh-wsh"

/** The output of an inner script, and the scripts behind its hashes. */
const wrapped = (wrap: Wrap, inner: Bytes): { readonly script: Bytes; readonly scripts: ReadonlyArray<Bytes> } => {
  switch (wrap) {
    case "bare":
      return { script: inner, scripts: [] }
    case "sh":
      return { script: sh(inner), scripts: [inner] }
    case "wsh":
      return { script: wsh(inner), scripts: [inner] }
    case "sh-wsh":
      return { script: sh(wsh(inner)), scripts: [inner, wsh(inner)] }
  }
}

const kind = (
  name: string,
  wrap: Wrap,
  inner: (pubkeys: ReadonlyArray<Bytes>) => Bytes,
  signers: (keys: ReadonlyArray<SigningKey>) => ReadonlyArray<SigningKey> = (keys) => keys
): SigningKind => {
  const segwit = wrap === "wsh" || wrap === "sh-wsh"
  return {
    name: `${name} ${wrap}`,
    segwit,
    taproot: false,
    compressedOnly: segwit,
    make: (keys) => {
      const { script, scripts } = wrapped(wrap, inner(keys.map(publicKeyOf)))
      const pubkeys = keys.map(publicKeyOf)
      return { script, provider: makeProvider({ keys: signers(keys), pubkeys, scripts }) }
    }
  }
}

const first = ([pubkey = new Uint8Array(33)]: ReadonlyArray<Bytes>): Bytes => pubkey

const WRAPS: ReadonlyArray<Wrap> = ["bare", "sh", "wsh", "sh-wsh"]

const byKeyHash = (wrap: "bare" | "sh"): SigningKind => ({
  name: `wpkh ${wrap}`,
  segwit: true,
  taproot: false,
  compressedOnly: true,
  make: (keys) => {
    const inner = program(0, hash160(first(keys.map(publicKeyOf))))
    const { script, scripts } = wrapped(wrap, inner)
    return { script, provider: makeProvider({ keys, scripts }) }
  }
})

/** A taproot output; `leaves` of x-only keys, which are then signed in place of the internal key. */
const taprootKind = (name: string, leaf: undefined | ((keys: ReadonlyArray<Bytes>) => Bytes)): SigningKind => ({
  name,
  segwit: true,
  taproot: true,
  compressedOnly: true,
  make: (keys) => {
    const compressed = keys.map((key) => ({ ...key, compressed: true }))
    const [internal, ...others] = compressed
    if (internal === undefined) throw new Error("no key")
    const script = leaf?.(others.map(xOf))
    const leaves = script === undefined ? [] : [
      { depth: 1, leafVersion: 0xc0, script: Uint8Array.of(Op.OP_RETURN) },
      { depth: 1, leafVersion: 0xc0, script }
    ]
    const output = makeTaproot(xOf(internal), leaves)
    const signers = script === undefined ? [internal] : others
    return {
      script: program(1, output.outputKey),
      provider: makeProvider({ keys: signers, taproot: [output] })
    }
  }
})

/** Every kind. Each is made of three keys. */
export const SIGNING_KINDS: ReadonlyArray<SigningKind> = [
  ...WRAPS.map((wrap) => kind("pk", wrap, (pubkeys) => checksig(first(pubkeys)))),
  ...WRAPS.map((wrap) => kind("pkh", wrap, (pubkeys) => pkh(first(pubkeys)))),
  ...WRAPS.map((wrap) => kind("1 of 3", wrap, (pubkeys) => multi(1, pubkeys))),
  ...WRAPS.map((wrap) => kind("2 of 3", wrap, (pubkeys) => multi(2, pubkeys), (keys) => keys.slice(1))),
  byKeyHash("bare"),
  byKeyHash("sh"),
  taprootKind("tr by key", undefined),
  taprootKind("tr pk", ([key = new Uint8Array(32)]) => checksig(key)),
  taprootKind("tr multi_a", (keys) => multiA(2, keys)),
  // and_v(v:pk(a),or_d(pk(b),older(5)))
  kind("miniscript", "wsh", ([a = new Uint8Array(33), b = a]) =>
    concat(
      pushData(a),
      Uint8Array.of(Op.OP_CHECKSIGVERIFY),
      pushData(b),
      Uint8Array.of(Op.OP_CHECKSIG, Op.OP_IFDUP, Op.OP_NOTIF, Op.OP_5, Op.OP_CHECKSEQUENCEVERIFY, Op.OP_ENDIF)
    ))
]

/** Three keys that differ. */
export const keyTriples: FastCheck.Arbitrary<ReadonlyArray<SigningKey>> = FastCheck.tuple(
  FastCheck.uniqueArray(secretKeys, { minLength: 3, maxLength: 3, selector: (key) => key.join() }),
  FastCheck.boolean()
).map(([secrets, compressed]) => secrets.map((privateKey) => ({ privateKey, compressed })))

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A script with the prefix of a name operation, or as it is. */
export const prefixes: FastCheck.Arbitrary<(script: Bytes) => Bytes> = FastCheck.constantFrom<(script: Bytes) => Bytes>(
  (script) => script,
  (script) => nameScript({ op: "name_new", commitment: new Uint8Array(20).fill(7) }, script),
  (script) =>
    nameScript(
      { op: "name_firstupdate", name: text("d/name"), rand: new Uint8Array(20).fill(9), value: text("{}") },
      script
    ),
  (script) => nameScript({ op: "name_update", name: text("d/name"), value: text("value") }, script)
)
