import { binaryString, type Bytes, displayHash, fromBinaryString, parseDisplayHash } from "./bytes.ts"

/**
 * Types for values that must not be mixed up. A brand is only in the type: at run time the value is the plain one. Each
 * brand has its functions that give it, which are called where the value comes into being.
 */

declare const brand: unique symbol

/** A value of type `A` that counts as a `B`. */
export type Brand<A, B extends string> = A & { readonly [brand]: B }

declare const kind: unique symbol

/** The height of a block: the genesis block has 0. Any number fits, but no value of another kind: heights need no conversion. */
export type Height = number & { readonly [kind]?: "Height" }

/** A clock time in milliseconds. Any number fits, but no value of another kind. */
export type Millis = number & { readonly [kind]?: "Millis" }

/** A time in seconds since 1970, as in block headers. Any number fits, but no value of another kind. */
export type UnixTime = number & { readonly [kind]?: "UnixTime" }

/** The number of a header in the tree of headers. It never changes while the node runs. */
export type HeaderId = Brand<number, "HeaderId">

export const headerId = (place: number): HeaderId => place as HeaderId

/** The number of a connection to a peer, counted from 0. */
export type PeerId = Brand<number, "PeerId">

export const peerId = (count: number): PeerId => count as PeerId

/** A txid as a key of maps: its 32 bytes in wire order, one character a byte. */
export type TxidKey = Brand<string, "TxidKey">

export const txidKey = (txid: Bytes): TxidKey => binaryString(txid) as TxidKey

/** The key of a txid in display byte order; `undefined` for any other text. */
export const txidKeyOf = (shown: string): TxidKey | undefined => {
  const txid = parseDisplayHash(shown)
  return txid === undefined ? undefined : txidKey(txid)
}

/** The txid of a key, in display byte order. */
export const shownTxid = (key: TxidKey): string => displayHash(fromBinaryString(key))

/** A wtxid as a key of maps, in the form of a `TxidKey`. */
export type WtxidKey = Brand<string, "WtxidKey">

export const wtxidKey = (wtxid: Bytes): WtxidKey => binaryString(wtxid) as WtxidKey

/** An outpoint as a key of maps: its 36 bytes as on the wire, one character a byte. `outpointKey` gives it. */
export type OutpointKey = Brand<string, "OutpointKey">

/** The txid in an outpoint key. */
export const txidOf = (outpoint: OutpointKey): TxidKey => outpoint.slice(0, 32) as TxidKey

/** A name as a key of maps: its bytes, one character a byte. */
export type NameKey = Brand<string, "NameKey">

export const nameKey = (name: Bytes): NameKey => binaryString(name) as NameKey

/** Characters U+0020 to U+007F: each is one byte, in UTF-8 too. */
const ASCII_TEXT = /^[ -\x7f]*$/

/** The same for a name in text of ASCII alone, as nearly all are, without its bytes; `undefined` for another text. */
export const nameKeyOfAscii = (text: string): NameKey | undefined => ASCII_TEXT.test(text) ? text as NameKey : undefined

/** The same key without the text of a caller that it may be a part of, which would stay in memory with it. A key has a character a byte. */
export const ownKey = <Key extends string>(key: Key): Key => binaryString(fromBinaryString(key)) as Key

/** The name of a key, as bytes. */
export const nameOfKey = (key: NameKey): Bytes => fromBinaryString(key)
