import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schedule } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { NameClient } from "../../src/client/NameClient.ts"
import type { RegistrationProgress } from "../../src/client/options.ts"
import { Mempool } from "../../src/mempool/Mempool.ts"
import { Miner } from "../../src/mempool/mining/Miner.ts"
import { Wallets } from "../../src/wallet/Wallets.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { withCheapScrypt } from "../support/cheapScrypt.ts"
import { nodeWithClient } from "../support/embedded.ts"
import { eventually } from "../support/eventually.ts"
import { embedded } from "./embeddedClient.ts"

describe("the embedded client", () => {
  it.scopedLive("reports that there is no wallet, and creates none", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        assert.strictEqual((yield* Effect.flip(client.registerName("d/x", "v")))._tag, "WalletDisabled")
        assert.strictEqual((yield* Effect.flip(client.updateName("d/x", "v")))._tag, "WalletDisabled")
      }).pipe(Effect.provide(embedded({ dataDir })))
      assert.isFalse(existsSync(join(dataDir, "wallet.json")))
    }))

  it.scopedLive("registers with the wallet of its directory, reports each step, and updates", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const miner = yield* Miner
        const wallet = (yield* Wallets).get("")
        if (wallet === undefined) return yield* Effect.dieMessage("there is a wallet")
        const { script } = yield* wallet.keys.newAddress({ type: "legacy", label: "" })
        const mine = (blocks: number) => miner.generate(blocks, script, Infinity)
        assert.strictEqual((yield* Effect.flip(client.registerName("d/x", "v")))._tag, "InsufficientFunds")
        const other = yield* Effect.flip(client.registerName("d/x", "v", { address: "NAMEcoin" }))
        assert.deepInclude({ ...other }, { _tag: "InvalidRequest", field: "address" })
        yield* mine(101)
        for (const name of ["d/UPPER", "d/-x", "id/With Space"]) {
          const refused = yield* Effect.flip(client.registerName(name, "{}"))
          assert.deepInclude({ ...refused }, { _tag: "InvalidRequest", field: "name" }, name)
        }
        assert.lengthOf((yield* client.registerName("d/UPPER", "{}", { anyName: true })).txHash, 64)
        const told: Array<RegistrationProgress> = []
        const registering = yield* Effect.fork(client.registerName("d/x", "eins", {
          waitFor: "registered",
          onProgress: (progress) => void told.push(progress)
        }))
        const until = (step: RegistrationProgress["step"]) =>
          eventually(`the step ${step}`, () => told.some((each) => each.step === step))
        yield* until("announced")
        const twice = yield* Effect.flip(client.registerName("d/x", "zwei"))
        assert.strictEqual(twice._tag, "NameUnavailable")
        yield* mine(1)
        yield* until("waiting")
        yield* mine(11)
        yield* until("claimed")
        yield* mine(1)
        const { txHash } = yield* Fiber.join(registering)
        const record = yield* client.resolveName("d/x")
        assert.deepStrictEqual([record.value, record.txid], ["eins", txHash])
        assert.deepStrictEqual(told.at(-1), { step: "registered", txHash, height: record.height })

        const updating = yield* Effect.fork(client.updateName("d/x", "", { waitFor: "confirmed" }))
        const pool = yield* Mempool
        yield* Effect.suspend(() =>
          Effect.sync(() => pool.info()).pipe(
            Effect.filterOrFail(({ size }) => size > 0, () => "not yet"),
            Effect.retry(Schedule.spaced("5 millis"))
          )
        )
        yield* mine(1)
        const updated = yield* Fiber.join(updating)
        assert.deepInclude(yield* client.resolveName("d/x"), { value: "", txid: updated.txHash })
        assert.strictEqual((yield* Effect.flip(client.updateName("d/none", "v")))._tag, "NameUnavailable")
      }).pipe(Effect.provide(nodeWithClient({ dataDir })))
    }))

  it.scopedLive("queues registrations beyond what the mempool takes between two blocks, and never tells a txid of zeros", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const miner = yield* Miner
        const wallet = (yield* Wallets).get("") ?? assert.fail("there is a wallet")
        const { script } = yield* wallet.keys.newAddress({ type: "legacy", label: "" })
        // One coin, so that each payment depends on the one before.
        yield* miner.generate(101, script, Infinity)
        const told: Array<RegistrationProgress> = []
        const onProgress = (progress: RegistrationProgress): void => void told.push(progress)
        const names = Array.from({ length: 30 }, (_, index) => `d/name-${index}`)
        const all = yield* Effect.fork(
          Effect.forEach(names, (name) => client.registerName(name, "v", { onProgress }), { concurrency: "unbounded" })
        )
        yield* eventually("all have begun", () => told.length >= names.length)
        const queued = told.filter(({ step }) => step === "queued")
        assert.isAbove(queued.length, 0)
        yield* miner.generate(1, script, Infinity)
        const hashes = (yield* Fiber.join(all)).map(({ txHash }) => txHash)
        assert.lengthOf(new Set(hashes), names.length)
        assert.isTrue(hashes.every((txHash) => /^[0-9a-f]{64}$/.test(txHash) && !/^0+$/.test(txHash)))
      }).pipe(Effect.provide(nodeWithClient({ dataDir })))
    }))

  it.scopedLive("opens an encrypted wallet only with the passphrase of the configuration", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const tried = (config: { readonly walletPassphrase?: string; readonly wallet?: string }) =>
        Effect.flatMap(NameClient, (client) => client.registerName("d/x", "v")).pipe(
          Effect.provide(nodeWithClient({ dataDir, ...config })),
          Effect.flip
        )
      yield* Effect.gen(function*() {
        const wallet = (yield* Wallets).get("")
        yield* wallet === undefined
          ? Effect.dieMessage("no wallet")
          : withCheapScrypt(wallet.vault.encrypt(Redacted.make("s3cret")))
        const client = yield* NameClient
        assert.strictEqual((yield* Effect.flip(client.registerName("d/x", "v")))._tag, "WalletLocked")
      }).pipe(Effect.provide(nodeWithClient({ dataDir })))
      assert.strictEqual((yield* tried({ walletPassphrase: "s3cret" }))._tag, "InsufficientFunds")
      const wrong = yield* tried({ walletPassphrase: "guess" })
      assert.deepInclude({ ...wrong }, { _tag: "InvalidConfig", field: "walletPassphrase" })
      const absent = yield* tried({ wallet: "none" })
      assert.deepInclude({ ...absent }, { _tag: "InvalidConfig", field: "wallet" })
    }))
})
