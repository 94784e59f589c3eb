import { type Header, makeHeader } from "../../src/protocol/header.ts"

/** Regtest's bits: two hashes of work. */
export const EASY_BITS = 0x207fffff

/** A header on top of `parent`; `nonce` makes it different from its siblings. */
export const childOf = (
  parent: Header | undefined,
  nonce: number,
  { bits = EASY_BITS, time = nonce }: { readonly bits?: number; readonly time?: number } = {}
): Header =>
  makeHeader({
    version: 1,
    prevHash: parent?.hash ?? new Uint8Array(32),
    merkleRoot: new Uint8Array(32).fill(nonce & 0xff),
    time,
    bits,
    nonce
  })
