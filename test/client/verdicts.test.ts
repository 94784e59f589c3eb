import { HttpApiSchema } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { annotatedVerdict } from "../../src/base/verdict.ts"
import type { SvcdError } from "../../src/client/errors.ts"
import { httpStatus, isTransient } from "../../src/client/verdicts.ts"
import * as index from "../../src/index.ts"
import * as promise from "../../src/promise.ts"

interface ErrorClass {
  /** Its name is the tag. */
  readonly prototype: Error & { readonly name: SvcdError["_tag"] }
}

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && value.prototype instanceof Error

/** The error classes that a module exports. */
const classesOf = (module: object): ReadonlyArray<ErrorClass> =>
  Object.values(module).filter(isErrorClass).toSorted((a, b) => a.prototype.name < b.prototype.name ? -1 : 1)

/** The compiler asks for each failure of a client. */
const STATUSES: Readonly<Record<SvcdError["_tag"], number>> = {
  ClientClosed: 503,
  CursorUnusable: 410,
  DaemonNotReady: 503,
  DaemonRefused: 502,
  DaemonUnreachable: 503,
  DataDirectoryInUse: 503,
  DataDirectoryUnusable: 500,
  DatabaseUnavailable: 503,
  InsufficientFunds: 503,
  InternalError: 500,
  InvalidConfig: 500,
  InvalidRequest: 400,
  NameExpired: 410,
  NameNotFound: 404,
  NameUnavailable: 409,
  NotSynced: 503,
  OperationRejected: 422,
  ProofUnavailable: 409,
  RegistrationFailed: 409,
  StorageCorrupted: 500,
  StorageUnavailable: 503,
  Unauthorized: 502,
  WalletDamaged: 500,
  WalletDisabled: 501,
  WalletLocked: 503,
  WrongNetwork: 500
}

describe("verdicts on failures", () => {
  it("are on each error class that the entries export, where HttpApi finds them", () => {
    const statusesOf = (module: object) =>
      Object.fromEntries(
        classesOf(module).map(({ prototype }) => [prototype.name, annotatedVerdict(prototype)?.status])
      )
    assert.deepStrictEqual(statusesOf(index), STATUSES)
    assert.deepStrictEqual(statusesOf(promise), STATUSES)
    for (const one of classesOf(index)) {
      const { name } = one.prototype
      assert.isTrue(Schema.isSchema(one) && HttpApiSchema.getStatusError(one) === STATUSES[name], name)
    }
  })

  it("the same call can succeed later: after what passes by itself", () => {
    const address = "127.0.0.1:8336"
    const passing = [
      new index.NotSynced({ height: 7 }),
      new index.DaemonUnreachable({ address, reason: "no answer" }),
      new index.DaemonNotReady({ address, reason: "starting" }),
      new index.DatabaseUnavailable({ server: "127.0.0.1:5432/names", reason: "no answer" }),
      new index.CursorUnusable({ cursor: "9-ff", why: "future", oldest: "0" })
    ]
    assert.deepStrictEqual(passing.map(isTransient), passing.map(() => true))
    assert.deepStrictEqual(passing.map(httpStatus), passing.map(() => 503))
    assert.deepStrictEqual(
      classesOf(index).filter(({ prototype }) => annotatedVerdict(prototype)?.transient).map(({ prototype }) =>
        prototype.name
      ),
      ["DaemonNotReady", "DaemonUnreachable", "DatabaseUnavailable", "NotSynced"]
    )
  })

  it.each([
    [404, new index.NameNotFound({ requested: "d/x" })],
    [410, new index.NameExpired({ requested: "d/x", updateHeight: 7 })],
    [409, new index.NameUnavailable({ requested: "d/x", reason: "taken" })],
    [400, new index.InvalidRequest({ field: "name", reason: "too long" })],
    [400, new index.CursorUnusable({ cursor: "?", why: "damaged", oldest: "0" })],
    [410, new index.CursorUnusable({ cursor: "9-ff", why: "pruned", oldest: "0" })],
    [502, new index.Unauthorized({ address: "127.0.0.1:8336", reason: "refuses the credentials" })],
    [500, new index.InternalError({ reason: "a defect" })]
  ])("%d: %s", (status, error) => {
    assert.strictEqual(httpStatus(error), status)
    assert.isFalse(isTransient(error))
    assert.strictEqual(error.name, error._tag)
  })

  it.each([undefined, null, "NotSynced", new Error("NotSynced"), { _tag: "NotSynced" }, new URIError("%")])(
    "%s is not a failure of svcd",
    (other) => {
      assert.strictEqual(httpStatus(other), 500)
      assert.isFalse(isTransient(other))
    }
  )
})
