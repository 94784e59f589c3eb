import { binaryString, type Bytes, displayHash, fromBinaryString, parseDisplayHash } from "./bytes.ts"

// Types for values that must not be mixed up. A brand exists only in the type. Each has functions that assign it where
// a value originates.

declare const brand: unique symbol

/** A value of type `A` that counts as a `B`. */
export type Brand<A, B extends string> = A & { readonly [brand]: B }

declare const kind: unique symbol

/** 0 for genesis. Accepts any number, but no other kind of value. */
export type Height = number & { readonly [kind]?: "Height" }

/** Accepts any number, but no value of another kind. */
export type Millis = number & { readonly [kind]?: "Millis" }

/** Seconds since 1970, as in block headers. Accepts any number, but no value of another kind. */
export type UnixTime = number & { readonly [kind]?: "UnixTime" }

/** Never changes while the node runs. */
export type HeaderId = Brand<number, "HeaderId">

export const headerId = (place: number): HeaderId => place as HeaderId

export type PeerId = Brand<number, "PeerId">

export const peerId = (count: number): PeerId => count as PeerId

/** A txid as a map key: 32 bytes in wire order, one character per byte. */
export type TxidKey = Brand<string, "TxidKey">

export const txidKey = (txid: Bytes): TxidKey => binaryString(txid) as TxidKey

export const txidKeyOf = (shown: string): TxidKey | undefined => {
  const txid = parseDisplayHash(shown)
  return txid === undefined ? undefined : txidKey(txid)
}

export const shownTxid = (key: TxidKey): string => displayHash(fromBinaryString(key))

/** A wtxid as a map key, in the form of a `TxidKey`. */
export type WtxidKey = Brand<string, "WtxidKey">

export const wtxidKey = (wtxid: Bytes): WtxidKey => binaryString(wtxid) as WtxidKey

/** An outpoint as a map key: 36 bytes as on the wire, one character per byte. See `outpointKey`. */
export type OutpointKey = Brand<string, "OutpointKey">

export const txidOf = (outpoint: OutpointKey): TxidKey => outpoint.slice(0, 32) as TxidKey

/** The SHA-256 of a script as a map key: 32 characters, one per byte in digest order. */
export type ScriptKey = Brand<string, "ScriptKey">

/** Throws for another length than 32 bytes. */
export const scriptKey = (hash: Bytes): ScriptKey => {
  if (hash.length !== 32) throw new RangeError(`a script hash has 32 bytes, not ${hash.length}`)
  return binaryString(hash) as ScriptKey
}

export const hashOfKey = (key: ScriptKey): Bytes => fromBinaryString(key)

/** A name as a map key, one character per byte. */
export type NameKey = Brand<string, "NameKey">

export const nameKey = (name: Bytes): NameKey => binaryString(name) as NameKey

/** U+0020 to U+007F: each is one byte in UTF-8. */
const ASCII_TEXT = /^[ -\x7f]*$/

/** The same from text, without making bytes, if it is ASCII as nearly all names are; else `undefined`. */
export const nameKeyOfAscii = (text: string): NameKey | undefined => ASCII_TEXT.test(text) ? text as NameKey : undefined

/** A copy of a key, so that a caller's text of which it is a slice does not stay in memory. */
export const ownKey = <Key extends string>(key: Key): Key => binaryString(fromBinaryString(key)) as Key

export const nameOfKey = (key: NameKey): Bytes => fromBinaryString(key)
