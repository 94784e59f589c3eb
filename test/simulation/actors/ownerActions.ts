import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { bytesFrom } from "../../../src/base/random.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { type Bytes, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { shownTxid, txidKey } from "../../../src/protocol/keys.ts"
import { prevoutTxid, type Transaction } from "../../../src/protocol/transaction.ts"
import { encodeWif } from "../../../src/protocol/wif.ts"
import { withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { isUnsent } from "../../../src/wallet/names/entries.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import { Wallets } from "../../../src/wallet/Wallets.ts"
import { type Act, type Action, NodeGone, type World } from "../World.ts"
import { booleanAt, numberAt, oneOf, textAt } from "./drawing.ts"
import { sourceAt, toldIn } from "./Told.ts"

/** What an owner asks of the default wallet of a node, and what is kept of the answers. */

const PASSPHRASE = Redacted.make("correct horse")

const encoded = (text: string): Bytes => new TextEncoder().encode(text)

/** Uses the default wallet of a node, as a call of its RPC would. */
const withWallet = <A, E>(world: World, name: string, use: (wallet: Wallet) => Effect.Effect<A, E>) =>
  world.node(name).run(Effect.flatMap(Wallets, (wallets): Effect.Effect<A, E | NodeGone> => {
    const wallet = wallets.get("")
    return wallet === undefined ? new NodeGone({ node: name }) : use(wallet)
  }))

/** Notes a transaction that a wallet has acknowledged. `replaces`: the transaction that it stands for. */
const acknowledged = (
  world: World,
  { node, txid, what, replaces }: {
    readonly node: string
    readonly what: string
    readonly txid: Bytes
    readonly replaces?: Bytes
  }
): void => {
  const replaced = replaces === undefined ? {} : { replaces: displayHash(replaces) }
  toldIn(world).transactions.push({ ...sourceAt(world, node), what, txid: displayHash(txid), ...replaced })
  world.note("acknowledged", { node, what, txid: displayHash(txid) })
}

/** An address of a node's wallet to send to. */
const addressAt = (world: World, node: string) =>
  withWallet(world, node, ({ keys, rules }) => keys.newAddress({ type: rules.addressType, label: "received" }))

const register = (world: World, node: string, given: Act["arguments"]) =>
  withWallet(world, node, ({ names }) => {
    const [name, value] = [textAt(given, "name"), textAt(given, "value")]
    return Effect.map(names.register(encoded(name), encoded(value), { renew: given["renew"] === true }), (begun) => {
      const newTxid = isUnsent(begun) ? undefined : displayHash(begun.newTxid)
      const salt = toHex(begun.rand)
      toldIn(world).registrations.push({ ...sourceAt(world, node), name, value, newTxid, salt, cancelled: false })
      world.note("registration begun", { node, name, newTxid })
    })
  })

/** A name that the wallet has, most often; sometimes that of the step, which may belong to another owner. */
const chosenName = ({ names }: Wallet, { arguments: given, random }: Act): Bytes => {
  const own = names.list().filter(({ mine }) => mine)
  return own.length > 0 && random() < 0.9 ? oneOf(random, own).name : encoded(textAt(given, "name"))
}

const update = (world: World, node: string, act: Act) =>
  withWallet(world, node, (wallet) =>
    Effect.map(
      wallet.names.nameUpdate({ name: chosenName(wallet, act), value: encoded(textAt(act.arguments, "value")) }),
      ({ txid }) => acknowledged(world, { node, what: "update", txid })
    ))

const transfer = (world: World, node: string, act: Act) =>
  Effect.flatMap(
    addressAt(world, textAt(act.arguments, "to")),
    ({ script }) =>
      withWallet(world, node, (wallet) =>
        Effect.map(
          wallet.names.nameUpdate({ name: chosenName(wallet, act), value: undefined, destination: script }),
          ({ txid }) => acknowledged(world, { node, what: "transfer", txid })
        ))
  )

const pay = (world: World, node: string, given: Act["arguments"]) =>
  Effect.flatMap(
    addressAt(world, textAt(given, "to")),
    ({ script }) =>
      withWallet(world, node, ({ payments }) =>
        Effect.map(
          payments.pay({ outputs: [{ script, value: numberAt(given, "amount") }] }),
          ({ transaction: { txid } }) => acknowledged(world, { node, what: "pay", txid })
        ))
  )

/** Outputs of a sweep: one coin alone would make the next payments wait for a block. */
const PARTS = 4

/** Spends all coins that can be spent now, among them the youngest block reward, for new ones of the same wallet. */
export const sweep = (world: World, node: string) =>
  withWallet(world, node, ({ keys, payments, rules }) =>
    Effect.gen(function*() {
      const coins = payments.candidates({})
      const part = Math.floor(coins.reduce((sum, { output }) => sum + output.value, 0) / PARTS)
      if (part < COIN) return
      const { script } = yield* keys.newAddress({ type: rules.addressType, label: "swept" })
      const { transaction: { txid } } = yield* payments.pay({
        inputs: coins.map(({ outpoint }) => ({ outpoint })),
        outputs: Array.from({ length: PARTS }, () => ({ script, value: part })),
        subtractFeeFrom: [0]
      })
      acknowledged(world, { node, what: "sweep", txid })
    }))

/** Blocks of a reward of which the last may not spend it yet (COINBASE_MATURITY). */
const YOUNG = 99

/** Spends a block reward that the next block may not spend, by a block: the node must refuse it. */
const hurry = (world: World, node: string) =>
  withWallet(world, node, ({ keys, ledger, payments, rules }) =>
    Effect.gen(function*() {
      const next = ledger.lastBlock().height + 1
      const young = ledger.coins().find(({ coinbase, height }) => coinbase && height === next - YOUNG)
      if (young === undefined) return
      const { script } = yield* keys.newAddress({ type: rules.addressType, label: "hurried" })
      yield* payments.pay({
        inputs: [{ outpoint: young.outpoint }],
        addInputs: false,
        outputs: [{ script, value: young.output.value }],
        subtractFeeFrom: [0]
      })
    }))

/** Smallest units per kvB: more than any other payment of a world pays. */
const RICH = 500_000

/**
 * Pays with two coins, and spends the first of them alone at another node, as another program with the same key may. The
 * rival comes after the payment and replaces it by its fee, or comes first, so that each of two mempools has one of them.
 */
const rival = (world: World, node: string, given: Act["arguments"]) =>
  Effect.gen(function*() {
    const isRich = booleanAt(given, "rich")
    const made = yield* withWallet(world, node, ({ keys, payments, rules }) =>
      Effect.gen(function*() {
        const [first, second] = payments.candidates({ minConfirmations: 1 }).filter(({ output }) =>
          output.value >= COIN
        )
        if (first === undefined || second === undefined) return undefined
        const { script } = yield* keys.newAddress({ type: rules.addressType, label: "rival" })
        const { transaction } = yield* payments.fund({
          inputs: [{ outpoint: first.outpoint }],
          addInputs: false,
          outputs: [{ script, value: first.output.value }],
          subtractFeeFrom: [0],
          ...isRich ? { feeRate: RICH } : {}
        })
        return { both: [first, second], script, transaction }
      }))
    if (made === undefined) return
    const { both, script, transaction } = made
    toldIn(world).rivals.add(displayHash(transaction.txid))
    const offered = world.node(textAt(given, "to")).run(Effect.flatMap(Mempool, ({ accept }) => accept(transaction)))
    const paid = withWallet(world, node, ({ payments }) =>
      Effect.map(
        payments.pay({
          inputs: both.map(({ outpoint }) => ({ outpoint })),
          addInputs: false,
          outputs: [{ script, value: both.reduce((sum, { output }) => sum + output.value, 0) }],
          subtractFeeFrom: [0]
        }),
        ({ transaction: { txid } }) => acknowledged(world, { node, what: "rival", txid })
      ))
    if (!isRich) yield* offered
    yield* paid
    if (!isRich) return
    yield* Effect.sleep(numberAt(given, "delay"))
    yield* offered
  })

/** Replaces an own transaction that waits for a block. */
const bump = (world: World, node: string, { random }: Act) =>
  withWallet(world, node, ({ ledger, payments }) => {
    const waiting = ledger.transactions().filter(({ spent, state }) =>
      state.type === "pending" && spent.some((output) => output !== undefined)
    )
    if (waiting.length === 0) return Effect.void
    const { transaction: { txid: replaces } } = oneOf(random, waiting)
    return Effect.map(
      payments.bump(txidKey(replaces), {}),
      ({ funded: { transaction: { txid } } }) => acknowledged(world, { node, what: "bump", txid, replaces })
    )
  })

/** Notes a transaction with all that spends its outputs, as the wallet abandons them together. */
const noteAbandoned = (world: World, all: ReadonlyArray<Transaction>, first: Bytes): void => {
  const found = new Set([txidKey(first)])
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const { inputs, txidKey: key } of all) {
      if (inputs.some(({ prevout }) => found.has(txidKey(prevoutTxid(prevout))))) found.add(key)
    }
  }
  const { abandoned } = toldIn(world)
  for (const key of found) abandoned.add(shownTxid(key))
}

const abandon = (world: World, node: string, { random }: Act) =>
  withWallet(world, node, ({ ledger, payments }) => {
    const idle = ledger.transactions().filter(({ state }) => state.type === "inactive" && !state.abandoned)
    if (idle.length === 0) return Effect.void
    const { transaction: { txid } } = oneOf(random, idle)
    noteAbandoned(world, ledger.transactions().map(({ transaction }) => transaction), txid)
    return Effect.map(payments.abandon(txidKey(txid)), () => {
      world.note("abandoned", { node, txid: displayHash(txid) })
    })
  })

const cancel = (world: World, node: string, given: Act["arguments"]) =>
  withWallet(world, node, ({ names }) => {
    const name = textAt(given, "name")
    // Even a call whose answer is lost may have cancelled it.
    for (const each of toldIn(world).registrations) if (each.name === name && each.node === node) each.cancelled = true
    return names.cancelRegistration(encoded(name))
  })

const setRenewal = (world: World, node: string, given: Act["arguments"]) =>
  withWallet(world, node, ({ names }) => names.setRenewal(encoded(textAt(given, "name")), given["on"] === true))

const renew = (world: World, node: string) =>
  withWallet(world, node, ({ names }) =>
    Effect.map(names.renew({ of: "within", blocks: 12 }), (renewals) => {
      for (const { state, txid } of renewals) {
        if (state === "sent" && txid !== undefined) acknowledged(world, { node, what: "renew", txid })
      }
    }))

/** Encrypts the wallet, then unlocks it for a while, for everything or for renewals only. */
const lock = (world: World, node: string, given: Act["arguments"]) =>
  withWallet(world, node, ({ vault }) =>
    Effect.gen(function*() {
      if (vault.encryption() === "none") yield* vault.encrypt(PASSPHRASE)
      yield* vault.unlock(PASSPHRASE, numberAt(given, "seconds"), { renewalsOnly: given["renewalsOnly"] === true })
    }))

/** Imports a key that the owner has from elsewhere, which makes the wallet read the chain again. */
const importKey = (world: World, node: string, { random }: Act) =>
  world.node(node).run(Effect.flatMap(Chain, ({ params: { network } }) => {
    const wif = encodeWif(network, { compressed: true, privateKey: bytesFrom(random, 32) })
    return withWallet(world, node, ({ keys }) =>
      keys.importDescriptor({
        descriptor: withChecksum(`wpkh(${wif})`),
        label: "imported",
        timestamp: 0,
        active: false,
        internal: undefined,
        range: undefined,
        nextIndex: undefined
      }))
  }))

type OwnerAct = (world: World, node: string, act: Act) => Effect.Effect<unknown, unknown>

const byArguments = (
  action: (world: World, node: string, given: Act["arguments"]) => Effect.Effect<unknown, unknown>
): OwnerAct =>
(world, node, { arguments: given }) => action(world, node, given)

const ACTIONS = {
  register: byArguments(register),
  update,
  transfer,
  pay: byArguments(pay),
  rival: byArguments(rival),
  sweep,
  hurry,
  cancel: byArguments(cancel),
  renewal: byArguments(setRenewal),
  lock: byArguments(lock),
  renew,
  bump,
  abandon,
  import: importKey
} satisfies Readonly<Record<string, OwnerAct>>

/** What an owner can wish for. */
export type Wish = keyof typeof ACTIONS

/** The actions of owners, each for the node of its arguments. */
export const ownerActions = (world: World): Readonly<Record<string, Action>> => {
  const actionOf = (action: OwnerAct): Action => (act) =>
    Effect.asVoid(action(world, textAt(act.arguments, "node"), act))
  return Object.fromEntries(Object.entries(ACTIONS).map(([name, action]) => [name, actionOf(action)]))
}
