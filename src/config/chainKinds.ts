import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { escapeUnsafe, quoted } from "../base/safeText.ts"
import type { ChainAnchor } from "../consensus/params.ts"
import type { Activation } from "../consensus/readerParams.ts"
import { type Bytes, displayHash, parseDisplayHash } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { choiceKind, fromText, numberWithout, type OptionKind, parseInteger } from "./kinds.ts"

/** The network's own, none, or a hash in wire order. */
export type AssumeValid = "default" | "none" | Bytes

/** A hash in display order, `0` for none, empty for the network's own. Upstream `-assumevalid`. */
export const assumeValid: OptionKind<AssumeValid> = {
  placeholder: "HASH|0",
  toml: "string",
  schema: fromText<AssumeValid>(
    () => Schema.Union(Schema.Literal("default", "none"), Schema.Uint8ArrayFromSelf),
    (given) => {
      if (given === "") return Either.right("default")
      if (given === "0") return Either.right("none")
      const hash = parseDisplayHash(given.toLowerCase())
      return hash === undefined
        ? Either.left(`${quoted(given)} is neither a block hash of 64 hexadecimal digits nor 0`)
        : Either.right(hash)
    },
    (value) => {
      if (value === "default") return ""
      return value === "none" ? "0" : displayHash(value)
    }
  )
}

/** As upstream's `-blockfilterindex`: 1 is basic, 0 none. */
export const filterIndex: OptionKind<"0" | "1" | "basic"> = {
  ...choiceKind(["0", "1", "basic"]),
  schema: fromText(
    () => Schema.Literal("0", "1", "basic"),
    (given) =>
      given === "0" || given === "1" || given === "basic"
        ? Either.right(given)
        : Either.left(`Unknown -blockfilterindex value ${escapeUnsafe(given)}.`),
    (value) => value
  )
}

export const displayedHash: OptionKind<Bytes> = {
  placeholder: "HASH",
  toml: "string",
  schema: fromText<Bytes>(
    () => Schema.Uint8ArrayFromSelf,
    (given) => {
      const found = parseDisplayHash(given.toLowerCase())
      return found === undefined
        ? Either.left(`${quoted(given)} is not a hash of 64 hexadecimal digits`)
        : Either.right(found)
    },
    displayHash
  )
}

/** Up to 64 hexadecimal digits. Upstream `-minimumchainwork`. */
export const chainWork: OptionKind<bigint> = {
  placeholder: "HEX",
  toml: "string",
  schema: fromText(
    () => Schema.BigIntFromSelf,
    (given) =>
      /^(0x)?[0-9a-fA-F]{1,64}$/.test(given)
        ? Either.right(BigInt(`0x${given.replace(/^0x/, "")}`))
        : Either.left(`${quoted(given)} is not a number of up to 64 hexadecimal digits`),
    (value) => value.toString(16)
  )
}

/** Where a light chain begins: the network's own block, none, or this one. */
export type AnchorChoice = "default" | "none" | ChainAnchor

const ANCHOR = /^(\d{1,9}):([0-9a-fA-F]{64}):(?:0x)?([0-9a-fA-F]{1,64})$/

const anchorSchema = (): Schema.Schema<ChainAnchor> =>
  Schema.Struct({
    height: Schema.Number,
    hash: Schema.Uint8ArrayFromSelf,
    chainwork: Schema.BigIntFromSelf
  })

/** `HEIGHT:HASH:WORK` with the hash in display order and the total work in hexadecimal digits, `none`, or empty. */
export const anchorKind: OptionKind<AnchorChoice> = {
  placeholder: "none|HEIGHT:HASH:WORK",
  toml: "string",
  schema: fromText<AnchorChoice>(
    () => Schema.Union(Schema.Literal("default", "none"), anchorSchema()),
    (given) => {
      if (given === "") return Either.right("default")
      if (given === "none") return Either.right("none")
      const [, digits, hex = "", work = ""] = ANCHOR.exec(given) ?? []
      const hash = parseDisplayHash(hex.toLowerCase())
      const height = Number(digits)
      return hash === undefined || height === 0
        ? Either.left(
          `${
            quoted(given)
          } is neither none nor HEIGHT:HASH:WORK, a block above genesis with its total work in hexadecimal digits`
        )
        : Either.right({ height, hash, chainwork: BigInt(`0x${work}`) })
    },
    (value) =>
      value === "default" || value === "none"
        ? value === "none" ? "none" : ""
        : `${value.height}:${displayHash(value.hash)}:${value.chainwork.toString(16)}`
  )
}

/** MiB (upstream `MIN_DISK_SPACE_FOR_BLOCK_FILES`). */
const LEAST_PRUNED = 550

const MOST_PRUNED = 1_000_000_000

const pruneFault = (value: number): string | undefined => {
  if (!Number.isSafeInteger(value) || value > MOST_PRUNED) {
    return `${value} is not 0, 1, or a whole number from ${LEAST_PRUNED} to ${MOST_PRUNED}`
  }
  if (value < 0) return "Prune cannot be configured with a negative value."
  return value > 1 && value < LEAST_PRUNED
    ? `Prune configured below the minimum of ${LEAST_PRUNED} MiB.  Please use a higher number.`
    : undefined
}

/** The value of `-prune` that deletes old blocks only on request. */
export const PRUNE_ON_REQUEST = 1

/** 0 to keep all blocks, 1 to prune on request, or MiB for block and undo files. Upstream `-prune`. */
export const pruneKind: OptionKind<number> = {
  placeholder: "N",
  toml: "integer",
  schema: fromText(
    () => numberWithout(pruneFault),
    (given) => {
      const value = parseInteger(given)
      if (value === undefined || value > MOST_PRUNED) {
        return Either.left(`${quoted(given)} is not 0, 1, or a whole number from ${LEAST_PRUNED} to ${MOST_PRUNED}`)
      }
      const fault = pruneFault(value)
      return fault === undefined ? Either.right(value) : Either.left(fault)
    },
    (value) => `${value}`
  )
}

/** `Infinity` for never. */
export interface ActivationHeight {
  readonly rule: keyof Activation
  readonly height: Height
}

const activationHeightSchema = (): Schema.Schema<ActivationHeight> =>
  Schema.Struct({
    rule: Schema.Literal("bip16", "bip34", "bip65", "bip66", "csv", "segwit", "taproot"),
    height: Schema.Number
  })

/** Upstream `deploymentinfo.cpp`, `GetBuriedDeployment`. */
const BURIED: ReadonlyMap<string, keyof Activation> = new Map([
  ["bip16", "bip16"],
  ["bip34", "bip34"],
  ["dersig", "bip66"],
  ["cltv", "bip65"],
  ["csv", "csv"],
  ["segwit", "segwit"]
])

/** Upstream refuses the largest 32-bit integer, which means "never" there. */
const MAX_ACTIVATION_HEIGHT = 0x7fffffff - 1

/** `name@height`. Upstream `chainparams.cpp`, `HandleDeploymentArgs`. */
export const activationHeight: OptionKind<ActivationHeight> = {
  placeholder: "NAME@HEIGHT",
  toml: "string",
  schema: fromText(
    activationHeightSchema,
    (given) => {
      const [, word = "", digits = ""] = /^([^@]*)@(.*)$/s.exec(given) ?? []
      const rule = BURIED.get(word)
      const height = parseInteger(digits)
      if (rule === undefined) {
        return Either.left(`${quoted(given)} is not name@height with one of ${[...BURIED.keys()].join(", ")}`)
      }
      return height !== undefined && height >= 0 && height <= MAX_ACTIVATION_HEIGHT
        ? Either.right({ rule, height })
        : Either.left(`${quoted(given)} has no height from 0 to ${MAX_ACTIVATION_HEIGHT} after the @`)
    },
    ({ height, rule }) => `${[...BURIED].find(([, known]) => known === rule)?.[0]}@${height}`
  )
}

const ALWAYS_ACTIVE = -1
const NEVER_ACTIVE = -2

const parseInt64 = (digits: string): number | undefined => {
  if (!/^-?\d{1,19}$/.test(digits)) return undefined
  const value = BigInt(digits)
  return value === BigInt.asIntN(64, value) ? Number(value) : undefined
}

/**
 * `taproot:start:end[:minheight]`. svcd supports the two outcomes without signalling: always active (start -1) and
 * never active (start -2, or a window that ends no later than it starts, as in `taproot:1:1`). Upstream
 * `chainparams.cpp`, `HandleDeploymentArgs`; `consensus/params.h`, `BIP9Deployment`.
 */
export const versionBits: OptionKind<ActivationHeight> = {
  placeholder: "taproot:START:END[:MINHEIGHT]",
  toml: "string",
  schema: fromText(
    activationHeightSchema,
    (given) => {
      const [deployment, ...numbers] = given.split(":")
      const [start, end, minHeight] = numbers.map(parseInt64)
      if (
        numbers.length < 2 || numbers.length > 3 || start === undefined || end === undefined ||
        (numbers.length === 3 && minHeight === undefined)
      ) {
        return Either.left(`${quoted(given)} is not deployment:start:end[:minheight]`)
      }
      if (deployment !== "taproot") {
        return Either.left(`${quoted(given)} is not for taproot, the only supported deployment`)
      }
      if (start === ALWAYS_ACTIVE) return Either.right({ rule: "taproot", height: 0 })
      if (start === NEVER_ACTIVE || (start >= 0 && end <= start)) {
        return Either.right({ rule: "taproot", height: Infinity })
      }
      return Either.left(
        `${quoted(given)} opens a window for signals; svcd has taproot:-1:0 (always active) and taproot:-2:0 (never)`
      )
    },
    ({ height }) => height === 0 ? "taproot:-1:0" : "taproot:-2:0"
  )
}
