import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { addressOf, decodeAddress, scriptOf } from "../../../protocol/address.ts"
import { binaryString, type Bytes, displayHash } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { addressScript } from "../../../protocol/nameOperation.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { WalletTx } from "../../../wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  GETRECEIVEDBYADDRESS,
  GETRECEIVEDBYLABEL,
  LISTADDRESSGROUPINGS,
  LISTRECEIVEDBYADDRESS,
  LISTRECEIVEDBYLABEL
} from "../../contract/wallet/received.ts"
import { Amount, type JsonValue } from "../../json/encodeJson.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { scriptOfAddress } from "./addressMethods.ts"
import { type DefineWalletMethod, walletMethod } from "./walletContext.ts"
import { depthOf, isImmatureAt, isTrusted } from "./walletTransactions.ts"

/** reference/rpc.md 3.9. */

interface Counting {
  readonly minConfirmations: number
  readonly immature: boolean
}

function* countedTransactions(
  wallet: Wallet,
  { immature, minConfirmations }: Counting
): Generator<readonly [tx: WalletTx, depth: number]> {
  for (const tx of wallet.ledger.transactions()) {
    const depth = depthOf(wallet, tx)
    if (depth < minConfirmations) continue
    const { isCoinbase } = tx.transaction
    // A coinbase off the best chain is worthless.
    if (isCoinbase && (depth < 1 || (isImmatureAt(true, depth) && !immature))) continue
    yield [tx, depth]
  }
}

/** Without name outputs. Upstream `GetReceived`. */
const receivedOn = (wallet: Wallet, scripts: ReadonlyArray<Bytes>, counting: Counting): number => {
  const wanted = new Set(scripts.map(binaryString))
  let sum = 0
  for (const [{ transaction }] of countedTransactions(wallet, counting)) {
    for (const { script, value } of transaction.outputs) if (wanted.has(binaryString(script))) sum += value
  }
  return sum
}

interface Tally {
  readonly amount: number
  /** Confirmations of the latest transaction. */
  readonly confirmations: number
  readonly txids: ReadonlyArray<string>
}

/** By address, including names. Upstream `ListReceived`. */
const tallyOf = (network: Network, wallet: Wallet, counting: Counting): ReadonlyMap<string, Tally> => {
  const tallies = new Map<string, Tally>()
  for (const [{ transaction }, depth] of countedTransactions(wallet, counting)) {
    for (const { script, value } of transaction.outputs) {
      const address = wallet.keys.own(script) === undefined ? undefined : addressOf(network, addressScript(script))
      if (address === undefined) continue
      const before = tallies.get(address)
      tallies.set(address, {
        amount: (before?.amount ?? 0) + value,
        confirmations: Math.min(before?.confirmations ?? Infinity, depth),
        txids: [...(before?.txids ?? []), displayHash(transaction.txid)]
      })
    }
  }
  return tallies
}

const NOTHING: Tally = { amount: 0, confirmations: 0, txids: [] }

/** Addresses that visibly share an owner. Upstream `GetAddressGroupings`. */
const groupsOf = (network: Network, wallet: Wallet): ReadonlyArray<ReadonlySet<string>> => {
  const groups = new Map<string, Set<string>>()
  /** Merges smaller groups into the largest. */
  const join = (addresses: ReadonlyArray<string>): void => {
    const met = [...new Set(addresses.flatMap((address) => groups.get(address) ?? []))]
    const group = met.reduce((a, b) => a.size < b.size ? b : a, met[0] ?? new Set<string>())
    for (const member of [...met.flatMap((other) => other === group ? [] : [...other]), ...addresses]) {
      group.add(member)
      groups.set(member, group)
    }
  }
  for (const { spent, transaction } of wallet.ledger.transactions()) {
    const inputs = spent.flatMap((output) =>
      output === undefined ? [] : addressOf(network, addressScript(output.script)) ?? []
    )
    const outputs = transaction.outputs.flatMap(({ script }) => {
      const own = wallet.keys.own(script)
      return own?.address === undefined ? [] : [{ address: own.address, change: own.change }]
    })
    const change = inputs.length === 0 ? [] : outputs.flatMap((output) => output.change ? output.address : [])
    join([...inputs, ...change])
    for (const { address } of outputs) join([address])
  }
  return [...new Set(groups.values())]
}

/** Upstream `GetAddressBalances`. */
const balancesOf = (wallet: Wallet): ReadonlyMap<string, number> => {
  const balances = new Map<string, number>()
  for (const coin of wallet.ledger.coins()) {
    const { address } = coin.own
    const depth = coin.height === undefined ? 0 : wallet.ledger.lastBlock().height - coin.height + 1
    if (address === undefined || coin.name !== undefined || isImmatureAt(coin.coinbase, depth)) continue
    const tx = depth > 0 ? undefined : wallet.ledger.transaction(txidKey(coin.txid))
    if (depth === 0 && (tx === undefined || !isTrusted(wallet, tx))) continue
    balances.set(address, (balances.get(address) ?? 0) + coin.output.value)
  }
  return balances
}

const listreceivedbyaddress = (make: DefineWalletMethod, network: Network) =>
  make(LISTRECEIVEDBYADDRESS, (given, wallet) =>
    Effect.suspend(() => {
      const { address_filter: only, include_empty, include_immature_coinbase: immature, minconf } = given
      if (only !== "" && "error" in decodeAddress(network, only)) {
        return RpcError.wallet("address_filter parameter was invalid")
      }
      const tallies = tallyOf(network, wallet, { immature, minConfirmations: minconf })
      return Effect.succeed([...wallet.keys.labels()].flatMap(([address, { label }]) => {
        const tally = tallies.get(address)
        if ((only !== "" && only !== address) || (tally === undefined && !include_empty)) return []
        const { amount, confirmations, txids } = tally ?? NOTHING
        return [{ address, amount: new Amount(amount), confirmations, label, txids }]
      }))
    }))

const listreceivedbylabel = (make: DefineWalletMethod, network: Network) =>
  make(
    LISTRECEIVEDBYLABEL,
    ({ include_empty, include_immature_coinbase: immature, minconf }, wallet) =>
      Effect.sync(() => {
        const tallies = tallyOf(network, wallet, { immature, minConfirmations: minconf })
        const labels = new Map<string, { amount: number; confirmations: number }>()
        for (const [address, { label }] of wallet.keys.labels()) {
          const tally = tallies.get(address)
          if (tally === undefined && !include_empty) continue
          const before = labels.get(label)
          labels.set(label, {
            amount: (before?.amount ?? 0) + (tally?.amount ?? 0),
            confirmations: Math.min(before?.confirmations ?? Infinity, tally?.confirmations ?? Infinity)
          })
        }
        return [...labels].sort(([a], [b]) => a < b ? -1 : 1).map(([label, { amount, confirmations }]) => ({
          amount: new Amount(amount),
          confirmations: Number.isFinite(confirmations) ? confirmations : 0,
          label
        }))
      })
  )

const listaddressgroupings = (make: DefineWalletMethod, network: Network) =>
  make(LISTADDRESSGROUPINGS, (_, wallet) =>
    Effect.sync(() => {
      const balances = balancesOf(wallet)
      const labels = wallet.keys.labels()
      return groupsOf(network, wallet).map((group) =>
        [...group].map((address): ReadonlyArray<JsonValue> => {
          const entry = labels.get(address)
          const balance = new Amount(balances.get(address) ?? 0)
          return entry === undefined ? [address, balance] : [address, balance, entry.label]
        })
      )
    }))

export const receivedMethods: Methods<Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const received = (
    wallet: Wallet,
    scripts: ReadonlyArray<Bytes>,
    counting: Counting
  ): Effect.Effect<Amount, RpcError> =>
    Effect.suspend(() => {
      const own = scripts.filter((script) => wallet.keys.own(script) !== undefined)
      return own.length === 0
        ? RpcError.wallet("Address not found in wallet")
        : Effect.succeed(new Amount(receivedOn(wallet, own, counting)))
    })

  const getreceivedbyaddress = make(
    GETRECEIVEDBYADDRESS,
    ({ address, include_immature_coinbase: immature, minconf: minConfirmations }, wallet) =>
      Effect.flatMap(
        scriptOfAddress(network, address),
        (script) => received(wallet, [script], { immature, minConfirmations })
      )
  )

  const getreceivedbylabel = make(
    GETRECEIVEDBYLABEL,
    ({ include_immature_coinbase: immature, label, minconf: minConfirmations }, wallet) =>
      Effect.suspend(() => {
        const addresses = [...wallet.keys.labels()].flatMap(([address, entry]) => entry.label === label ? address : [])
        if (addresses.length === 0) return RpcError.wallet("Label not found in wallet")
        const scripts = addresses.flatMap((address) => {
          const parsed = decodeAddress(network, address)
          return "error" in parsed ? [] : [scriptOf(parsed.destination)]
        })
        return received(wallet, scripts, { immature, minConfirmations })
      })
  )

  return [
    getreceivedbyaddress,
    getreceivedbylabel,
    listreceivedbyaddress(make, network),
    listreceivedbylabel(make, network),
    listaddressgroupings(make, network)
  ]
})
