import { type Context, Effect, Either, Layer, Stream } from "effect"
import { encodeAddress, scriptOf } from "../../src/protocol/address.ts"
import { binaryString, type Bytes, toHex } from "../../src/protocol/bytes.ts"
import { descriptorChecksum } from "../../src/protocol/descriptor/descriptor.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { addressScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { regtest } from "../../src/protocol/networks.ts"
import type { KeyOrigin } from "../../src/protocol/psbt/Psbt.ts"
import { outpoint, outpointKey, type Transaction } from "../../src/protocol/transaction.ts"
import type { CallContext, Method } from "../../src/rpc/method/methodTable.ts"
import { methodTable } from "../../src/rpc/method/methodTable.ts"
import type { WalletRecovery } from "../../src/wallet/keys/recovery.ts"
import type { WalletVault } from "../../src/wallet/keys/Vault.ts"
import type { OwnScript, WalletKeys } from "../../src/wallet/keys/WalletKeys.ts"
import type { WalletCoin, WalletLedger, WalletTx } from "../../src/wallet/ledger/WalletLedger.ts"
import type { WalletNames } from "../../src/wallet/names/WalletNames.ts"
import type { WalletPayments } from "../../src/wallet/payments/WalletPayments.ts"
import { makeProvider, type SigningKey, type SigningProvider } from "../../src/wallet/signing/SigningProvider.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { DEFAULT_RULES } from "../../src/wallet/WalletRules.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { pubkeyOf } from "./keys.ts"
import { type Calls, callsOf } from "./methodNode.ts"

export { noWallets } from "./noWallets.ts"

/** A wallet of lists behind the wallet interface: it owns what a test puts into it, and does nothing by itself. */

/** The private key of a number: always the same key for the same number. */
export const secretOf = (number: number): Uint8Array => {
  const secret = new Uint8Array(32)
  new DataView(secret.buffer).setUint32(28, number)
  return secret
}

export const keyOf = (number: number): SigningKey => ({ privateKey: secretOf(number), compressed: true })

/** A P2PKH script of the key of a number, as the wallet knows it. */
export const ownScript = (number: number, overrides: Partial<OwnScript> = {}): OwnScript => {
  const publicKey = pubkeyOf(secretOf(number))
  const destination = { kind: "pubkeyhash", hash: hash160(publicKey) } as const
  const descriptor = `pkh(${toHex(publicKey)})`
  return {
    script: scriptOf(destination),
    address: encodeAddress(regtest, destination),
    type: "legacy",
    change: false,
    spendable: true,
    publicKey,
    path: `m/44h/1h/0h/0/${number}`,
    masterFingerprint: Uint8Array.of(0xe5, 0x81, 0x20, 0xf7),
    descriptor: `${descriptor}#${descriptorChecksum(descriptor)}`,
    parentDescriptor: "pkh([e58120f7/44h/1h/0h]tpub/0/*)#jfnua0jd",
    redeemScript: undefined,
    witnessScript: undefined,
    timestamp: 1_500_000_000,
    ...overrides
  }
}

/** A transaction of the wallet: pending, and none of its inputs ours, unless a test overrides that. */
export const walletTx = (transaction: Transaction, overrides: Partial<WalletTx> = {}): WalletTx => ({
  transaction,
  state: { type: "pending" },
  time: 1_600_000_000,
  order: 0,
  comment: undefined,
  commentTo: undefined,
  replaces: undefined,
  replacedBy: undefined,
  spent: transaction.inputs.map(() => undefined),
  ...overrides
})

/** An output of the wallet, confirmed at height 1. */
export const walletCoin = (
  transaction: Transaction,
  vout: number,
  own: OwnScript,
  overrides: Partial<WalletCoin> = {}
): WalletCoin => {
  const output = transaction.outputs[vout]
  if (output === undefined) throw new Error(`no output ${vout}`)
  return {
    outpoint: outpointKey(outpoint(transaction.txid, vout)),
    txid: transaction.txid,
    vout,
    output,
    own,
    name: parseNameScript(output.script),
    height: 1,
    coinbase: transaction.isCoinbase,
    trusted: true,
    safe: true,
    locked: false,
    expired: false,
    nameExpired: false,
    ...overrides
  }
}

/** The content of a fake wallet; lists may be changed while it is in use. */
export interface FakeState {
  readonly scripts: Array<OwnScript>
  /** Numbers of the keys that it signs with. */
  readonly keys: Array<number>
  readonly transactions: Array<WalletTx>
  readonly coins: Array<WalletCoin>
  readonly labels: Map<string, { readonly label: string; readonly purpose: "send" | "receive" }>
  /** Every call that would have changed something: the name of the member and its arguments. */
  readonly calls: Array<readonly [member: string, ...given: ReadonlyArray<unknown>]>
}

export interface FakeWallet extends FakeState {
  readonly wallet: Wallet
}

const originOf = ({ masterFingerprint, path }: OwnScript): KeyOrigin | undefined =>
  masterFingerprint === undefined || path === undefined ? undefined : {
    fingerprint: masterFingerprint,
    path: path.split("/").slice(1).map((step) => Number.parseInt(step, 10) + (/[h']$/.test(step) ? 2 ** 31 : 0))
  }

/** The public data of scripts, which may change while it is in use. */
const knowledgeOf = (scripts: ReadonlyArray<OwnScript>): SigningProvider => {
  const now = () =>
    makeProvider({
      pubkeys: scripts.flatMap(({ publicKey }) => publicKey ?? []),
      scripts: scripts.flatMap(({ redeemScript, witnessScript }) =>
        [redeemScript, witnessScript].filter((script) => script !== undefined)
      ),
      origins: scripts.flatMap((own) => {
        const origin = originOf(own)
        return own.publicKey === undefined || origin === undefined ? [] : [{ pubkey: own.publicKey, origin }]
      })
    })
  return {
    key: () => undefined,
    pubkey: (hash) => now().pubkey(hash),
    redeemScript: (hash) => now().redeemScript(hash),
    witnessScript: (hash) => now().witnessScript(hash),
    taproot: () => undefined,
    origin: (hash) => now().origin(hash)
  }
}

const unprepared = (member: string) => (): never => {
  throw new Error(`the test gives the fake wallet no ${member}`)
}

/** Members of a wallet and of its interfaces, whose names are all different. */
export type WalletMembers = Partial<
  & Omit<Wallet, "keys" | "ledger" | "payments" | "names" | "vault" | "recovery">
  & WalletKeys
  & WalletLedger
  & WalletPayments
  & WalletNames
  & WalletVault
  & WalletRecovery
>

/** Makes a fake wallet. Members that a test needs and that a list cannot answer are given as overrides. */
export const fakeWallet = (overrides: WalletMembers = {}, held: Partial<FakeState> = {}): FakeWallet => {
  const state: FakeState = {
    scripts: [],
    keys: [],
    transactions: [],
    coins: [],
    labels: new Map(),
    calls: [],
    ...held
  }
  const { calls, coins, keys, labels, scripts, transactions } = state
  /** Records the call and does no more. */
  const noted = (member: string) => (...given: ReadonlyArray<unknown>): Effect.Effect<void> =>
    Effect.sync(() => void calls.push([member, ...given]))
  let fresh = 1_000

  const give = (own: OwnScript): OwnScript => {
    scripts.push(own)
    return own
  }

  const wallet: Wallet = {
    name: "",
    path: "/nowhere/wallet.json",
    rules: DEFAULT_RULES,
    avoidsReuse: () => false,
    setAvoidReuse: (on) => noted("setAvoidReuse")(on),
    keys: {
      newAddress: ({ label, type }) =>
        Effect.sync(() => {
          const own = give(ownScript(fresh++, { type }))
          if (own.address !== undefined) labels.set(own.address, { label, purpose: "receive" })
          return own
        }),
      words: Effect.succeed(undefined),
      reserveAddress: (type) => Effect.sync(() => ({ own: give(ownScript(fresh++, { type })), release: () => {} })),
      draftAddress: (type) => ownScript(fresh, { type }),
      newChangeAddress: (type) => Effect.sync(() => give(ownScript(fresh++, { type, change: true }))),
      own: (script: Bytes) => {
        const bare = binaryString(addressScript(script))
        return scripts.find((own) => binaryString(own.script) === bare)
      },
      hasPrivateKeys: true,
      isBlank: () => false,
      keypool: () => ({ receive: 20, change: 20 }),
      birthday: 1_500_000_000,
      birthtime: () => 1_500_000_000,
      importDescriptor: (request) => Effect.as(noted("importDescriptor")(request), []),
      descriptors: () => Effect.succeed([]),
      refill: () => Effect.void,
      knowledge: knowledgeOf(scripts),
      signer: Effect.sync(() => makeProvider({ keys: keys.map(keyOf) })),
      labels: () => labels,
      setLabel: ({ address, label }) =>
        Effect.sync(() => {
          const ours = scripts.some((own) => own.address === address)
          labels.set(address, { label, purpose: labels.get(address)?.purpose ?? (ours ? "receive" : "send") })
        }),
      ...overrides
    },
    ledger: {
      balances: Effect.succeed({ trusted: 0, untrustedPending: 0, immature: 0 }),
      cleanBalances: Effect.succeed({ trusted: 0, untrustedPending: 0, immature: 0 }),
      isReused: () => false,
      concerns: unprepared("concerns"),
      insert: unprepared("insert"),
      remove: (txid) => noted("remove")(txid),
      abortRescan: () => false,
      coins: () => coins,
      transactions: () => transactions,
      transaction: (txid) => transactions.find(({ transaction }) => transaction.txidKey === txid),
      conflictsOf: () => [],
      lockCoins: (outpoints, change) =>
        Effect.sync(() => {
          calls.push(["lockCoins", outpoints, change])
          for (const [at, coin] of coins.entries()) {
            if (outpoints.includes(coin.outpoint)) coins[at] = { ...coin, locked: change !== "unlock" }
          }
        }),
      lastBlock: () => ({ height: 0, hash: regtest.genesisHash }),
      scanning: () => undefined,
      rescan: (from, to) => Effect.as(noted("rescan")(from, to), to ?? 0),
      ...overrides
    },
    payments: {
      exclusively: (payment) => payment,
      candidates: unprepared("candidates"),
      feeRate: ({ feeRate = 100_000 }) => Either.right({ feeRate, reason: "Fallback fee" }),
      fund: unprepared("fund"),
      pay: unprepared("pay"),
      commit: noted("commit"),
      abandon: noted("abandon"),
      bump: unprepared("bump"),
      replacement: unprepared("replacement"),
      queue: () => [],
      enqueue: noted("enqueue"),
      dequeue: (txid) => Effect.as(noted("dequeue")(txid), true),
      ...overrides
    },
    names: {
      nameNew: unprepared("nameNew"),
      nameFirstUpdate: unprepared("nameFirstUpdate"),
      nameUpdate: unprepared("nameUpdate"),
      draftNew: unprepared("draftNew"),
      draftFirstUpdate: unprepared("draftFirstUpdate"),
      draftUpdate: unprepared("draftUpdate"),
      register: unprepared("register"),
      registrations: () => [],
      cancelRegistration: noted("cancelRegistration"),
      list: () => [],
      setRenewal: noted("setRenewal"),
      isRenewed: () => false,
      outlooks: Effect.succeed([]),
      acknowledge: (names) => Effect.as(noted("acknowledge")(names), names ?? []),
      renewal: () => ({ all: false, names: [], except: [] }),
      planRenewals: unprepared("planRenewals"),
      renew: unprepared("renew"),
      requestedRenewals: () => [],
      cancelRenewal: () => Effect.succeed(false),
      ...overrides
    },
    vault: {
      encryption: () => "none",
      signsRenewals: () => overrides.encryption?.() !== "locked",
      unlockedUntil: () => 0,
      renewalsUntil: () => 0,
      encrypt: noted("encrypt"),
      unlock: noted("unlock"),
      lock: noted("lock")(),
      changePassphrase: noted("changePassphrase"),
      ...overrides
    },
    recovery: {
      isPhraseKept: () => undefined,
      phraseChecked: () => undefined,
      checkWords: () => Effect.succeed(false),
      backup: noted("backup"),
      ...overrides
    },
    follower: {
      name: "wallet",
      cursor: Effect.succeed(undefined),
      apply: () => Effect.void,
      rewind: () => Effect.void
    },
    settled: Effect.void,
    changes: Stream.empty,
    ...overrides
  }
  return { ...state, wallet }
}

/** The wallets of a node: those given are loaded, in this order. */
export const fakeWallets = (
  wallets: ReadonlyArray<Wallet> = [],
  overrides: Partial<Context.Tag.Service<Wallets>> = {}
): Context.Tag.Service<Wallets> => {
  const loaded = [...wallets]
  return Wallets.of({
    enabled: true,
    loaded: () => loaded,
    get: (name) => loaded.find((wallet) => wallet.name === name),
    twinsOf: (name) => name === "twin" ? ["first", ""] : [],
    onDisk: Effect.sync(() => loaded.map(({ name }) => name)),
    changes: Stream.empty,
    create: ({ name }) =>
      Effect.sync(() => {
        const { wallet } = fakeWallet({ name })
        loaded.push(wallet)
        return wallet
      }),
    load: (name) =>
      Effect.sync(() => {
        const { wallet } = fakeWallet({ name })
        loaded.push(wallet)
        return wallet
      }),
    unload: (name) =>
      Effect.sync(() => {
        const at = loaded.findIndex((wallet) => wallet.name === name)
        if (at >= 0) loaded.splice(at, 1)
      }),
    restore: ({ name }) =>
      Effect.sync(() => {
        const { wallet } = fakeWallet({ name })
        loaded.push(wallet)
        return wallet
      }),
    ...overrides
  })
}

export const fakeWalletsLayer = (
  wallets: ReadonlyArray<Wallet> = [],
  overrides: Partial<Context.Tag.Service<Wallets>> = {}
): Layer.Layer<Wallets> => Layer.succeed(Wallets, fakeWallets(wallets, overrides))

/** Calls methods on the path of a wallet; on `/` where there is no name. */
export const callsOn = (methods: ReadonlyArray<Method>, wallet?: string): Calls =>
  callsOf(
    methodTable(methods.map((method) => ({
      ...method,
      call: (given, context: CallContext) => method.call(given, { ...context, wallet })
    })))
  )
