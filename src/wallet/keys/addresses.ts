import * as Effect from "effect/Effect"
import type { ConsensusParams } from "../../consensus/params.ts"
import { decodeAddress, type Destination, scriptOf } from "../../protocol/address.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import type { LabelEntry, WalletDocument } from "./WalletDocument.ts"
import type { AddressType, WalletKeys } from "./WalletKeys.ts"

export type Addresses = Pick<
  WalletKeys,
  "draftAddress" | "newAddress" | "reserveAddress" | "newChangeAddress" | "labels" | "setLabel" | "words"
>

/** Replaces the labels of the same addresses. */
export const withLabels = (document: WalletDocument, labels: ReadonlyArray<LabelEntry>): WalletDocument => {
  if (labels.length === 0) return document
  const addresses = new Set(labels.map(({ address }) => address))
  return { ...document, labels: [...document.labels.filter(({ address }) => !addresses.has(address)), ...labels] }
}

/** Without active taproot, witness version 1 is spendable without a signature (reference/protocol.md 10, 13). */
export const typeProblem = ({ activation }: ConsensusParams, type: AddressType): InvalidWalletRequest | undefined =>
  type === "bech32m" && !Number.isFinite(activation.taproot)
    ? new InvalidWalletRequest({
      code: "address-type",
      reason: "bech32m addresses are not safe on this network: taproot is not active, and any miner can spend from them"
    })
    : undefined

export const makeAddresses = (parts: WalletParts): Addresses => {
  const { chain, file, index, ring, status } = parts

  /** Only then does the wallet know which addresses are paid. */
  const knowsBlocks = Effect.map(status.initialDownload, (downloads) => !downloads && index.complete())

  const give = (type: AddressType, change: boolean, label: string | undefined) =>
    Effect.gen(function*() {
      const problem = typeProblem(chain.params, type)
      if (problem !== undefined) return yield* problem
      const { change: save, own } = yield* ring.next(type, { change, knows: yield* knowsBlocks })
      const { address } = own
      const labels: ReadonlyArray<LabelEntry> = label === undefined || address === undefined
        ? []
        : [{ address, label, purpose: "receive" }]
      yield* update(parts, (document) => withLabels(save(document), labels))
      return own
    })

  const purposeOf = (destination: Destination): LabelEntry["purpose"] =>
    ring.own(scriptOf(destination)) !== undefined ? "receive" : "send"

  let listed: { readonly of: WalletDocument["labels"]; readonly map: ReturnType<Addresses["labels"]> } | undefined

  return {
    newAddress: ({ label, type }) => give(type, false, label),
    reserveAddress: (type) =>
      Effect.suspend(() => {
        const problem = typeProblem(chain.params, type)
        return problem ?? ring.reserve(type, false)
      }),
    draftAddress: (type) => typeProblem(chain.params, type) === undefined ? ring.draft(type, false) : undefined,
    newChangeAddress: (type) => give(type, true, undefined),
    words: Effect.map(knowsBlocks, (knows) => knows ? ring.words() : undefined),
    labels: () => {
      const { labels } = file.document
      if (listed?.of !== labels) {
        listed = {
          of: labels,
          map: new Map(labels.map(({ address, label, purpose }) => [address, { label, purpose }]))
        }
      }
      return listed.map
    },
    setLabel: ({ address, label }) =>
      Effect.suspend((): Effect.Effect<void, InvalidWalletRequest | StorageFailure> => {
        const parsed = decodeAddress(ring.network, address)
        // A label of anything else would make the file count as damaged.
        if ("error" in parsed) {
          return new InvalidWalletRequest({ code: "address-type", reason: "only an address can have a label" })
        }
        const entry = { address, label, purpose: purposeOf(parsed.destination) }
        return update(parts, (document) => withLabels(document, [entry]))
      })
  }
}
