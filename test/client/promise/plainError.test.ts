import { assert, describe, it } from "@effect/vitest"
import { plainError } from "../../../src/client/promise/plainError.ts"
import type * as records from "../../../src/client/records.ts"
import * as effect from "../../../src/index.ts"
import * as promise from "../../../src/promise.ts"

const CLASSES = { effect, promise }

const REQUESTED = { requested: "d/\u{fffd}", requestedHex: "642fff" }

/** A failure of each class, with all its fields. */
const FAILURES: { readonly [E in effect.SvcdError as E["_tag"]]: E } = {
  ClientClosed: new effect.ClientClosed(),
  CursorUnusable: new effect.CursorUnusable({ cursor: "9-ff", why: "future", oldest: "0", height: 7 }),
  DaemonNotReady: new effect.DaemonNotReady({ address: "127.0.0.1:8336", reason: "starting" }),
  DaemonRefused: new effect.DaemonRefused({ code: -1, reason: "no" }),
  DaemonUnreachable: new effect.DaemonUnreachable({ address: "127.0.0.1:8336", reason: "no answer" }),
  DataDirectoryInUse: new effect.DataDirectoryInUse({ path: "/names", pid: 7 }),
  DataDirectoryUnusable: new effect.DataDirectoryUnusable({ path: "/names", reason: "EACCES" }),
  DatabaseUnavailable: new effect.DatabaseUnavailable({ server: "127.0.0.1:5432/names", reason: "no answer" }),
  InsufficientFunds: new effect.InsufficientFunds({ reason: "0.01 NMC are missing" }),
  InternalError: new effect.InternalError({ reason: "a defect" }),
  InvalidConfig: new effect.InvalidConfig({ field: "dataDir", reason: "has to be a text" }),
  InvalidRequest: new effect.InvalidRequest({ field: "name", reason: "too long" }),
  NameExpired: new effect.NameExpired({ ...REQUESTED, updateHeight: 7 }),
  NameNotFound: new effect.NameNotFound(REQUESTED),
  NameUnavailable: new effect.NameUnavailable({ ...REQUESTED, reason: "taken" }),
  NotSynced: new effect.NotSynced({ height: 7, reason: "old", phase: "blocks", percent: 1, secondsLeft: 2 }),
  OperationRejected: new effect.OperationRejected({ reason: "dust" }),
  ProofUnavailable: new effect.ProofUnavailable({ reason: "its block was pruned" }),
  RegistrationFailed: new effect.RegistrationFailed({ ...REQUESTED, reason: "another was first" }),
  StorageCorrupted: new effect.StorageCorrupted({ file: "names.db", found: "zeros", remedy: "Delete it." }),
  StorageUnavailable: new effect.StorageUnavailable({ file: "names.db", doing: "writing", reason: "ENOSPC" }),
  Unauthorized: new effect.Unauthorized({ address: "127.0.0.1:8336", reason: "refuses the credentials" }),
  WalletDamaged: new effect.WalletDamaged({ file: "wallet.json", found: "zeros" }),
  WalletDisabled: new effect.WalletDisabled({ reason: "there is none" }),
  WalletLocked: new effect.WalletLocked(),
  WrongNetwork: new effect.WrongNetwork({ path: "/names", found: "testnet", wanted: "mainnet" })
}

/** What an error says of itself. */
const told = (error: Error) => ({
  fields: { ...error },
  message: error.message,
  name: error.name,
  status: promise.httpStatus(error),
  transient: promise.isTransient(error)
})

/** Whether two records have the same fields, with the same types. */
type Same<A, B> = [Required<A>, A] extends [Required<B>, B] ? [Required<B>, B] extends [Required<A>, A] ? true : false
  : false

describe("the errors of svcd/promise", () => {
  it.each(Object.values(FAILURES))("%s becomes a plain error that says the same", (failure) => {
    const { _tag } = failure
    const [Plain, Original] = [CLASSES.promise[_tag], CLASSES.effect[_tag]]
    const plain = plainError(failure)
    assert(plain instanceof Plain)
    assert.isFalse(plain instanceof Original)
    assert.strictEqual(Object.getPrototypeOf(Plain), Error)
    assert.strictEqual(Plain.name, _tag)
    assert.deepStrictEqual(told(plain), told(failure))
    assert.sameMembers(Reflect.ownKeys(plain), [...Object.keys(failure), "message", "stack"])
    assert.strictEqual(plain.stack, failure.stack)
  })

  it("can be made by a program, and cloned", () => {
    const error = new promise.NameNotFound({ requested: "d/x" })
    assert.strictEqual(error.message, "name not found: 'd/x'")
    assert.include(error.stack ?? "", `NameNotFound: ${error.message}`)
    assert.include(error.stack ?? "", "plainError.test.ts")
    assert.strictEqual(structuredClone(error).message, error.message)
    assert.strictEqual(new promise.ClientClosed().message, "the client is closed")
  })

  it.each([
    undefined,
    "NotSynced",
    new Error("no"),
    new URIError("%"),
    { _tag: "NotSynced" },
    new DOMException("time", "TimeoutError")
  ])(
    "%s stays what it is",
    (other) => {
      assert.strictEqual(plainError(other), other)
    }
  )
})

describe("the records of svcd/promise", () => {
  it("have the fields of those of svcd", () => {
    const same: {
      readonly freshness: Same<promise.Freshness, Pick<records.Freshness, keyof records.Freshness>>
      readonly record: Same<promise.NameRecord, Pick<records.NameRecord, keyof records.NameRecord>>
      readonly change: Same<promise.NameChange, Pick<records.NameChange, keyof records.NameChange>>
      readonly result: Same<promise.OperationResult, Pick<records.OperationResult, keyof records.OperationResult>>
    } = { freshness: true, record: true, change: true, result: true }
    assert.isTrue(same.record)
  })
})
