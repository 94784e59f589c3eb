import { Either } from "effect"
import { withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { type ImportRequest, prepareImport } from "../../../src/wallet/keys/importDescriptor.ts"
import { type KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { seededDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { parseMnemonic } from "../../../src/wallet/keys/mnemonic.ts"
import { emptyDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import type { AddressType } from "../../../src/wallet/keys/WalletKeys.ts"

export const MASTER =
  "tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd7zrbniJr6nrCzd"
export const MASTER_PUBLIC =
  "tpubD6NzVbkrYhZ4XYa9MoLt4BiMZ4gkt2faZ4BcmKu2a9te4LDpQmvEz2L2yDERivHxFPnxXXhqDRkUNnQCpZggCyEZLBktV7VaSmwayqMJy1s"
export const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
export const ONE = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
export const TWO = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
export const PHRASE = `${"abandon ".repeat(11)}about`
export const TYPES: ReadonlyArray<AddressType> = ["legacy", "p2sh-segwit", "bech32", "bech32m"]

export const about = seededDocument({
  network: "regtest",
  mnemonic: Either.getOrThrow(parseMnemonic(PHRASE)),
  createdAt: 10,
  birthday: 5
})

export const watching = emptyDocument({ network: "regtest", createdAt: 1, privateKeys: false })

export const request = (text: string, more: Partial<ImportRequest> = {}): ImportRequest => ({
  descriptor: withChecksum(text),
  label: "",
  timestamp: 7,
  active: false,
  internal: false,
  range: undefined,
  nextIndex: undefined,
  ...more
})

export const imported = (document: WalletDocument, ...requests: ReadonlyArray<ImportRequest>): WalletDocument =>
  requests.reduce((now, each) => Either.getOrThrow(prepareImport(now, each, undefined)).change(now), document)

export const taken = (ring: KeyRing, type: AddressType, change = false) =>
  Either.getOrThrow(ring.next(type, { change }))
