import { assert, describe, it } from "@effect/vitest"
import { httpStatus, isTransient, VERDICTS } from "../../src/client/verdicts.ts"
import * as index from "../../src/index.ts"
import * as promise from "../../src/promise.ts"

/** The tags of the error classes that a module exports. */
const tagsOf = (module: object): ReadonlyArray<string> =>
  Object.values(module)
    .filter((value) => typeof value === "function" && value.prototype instanceof Error)
    .map(({ _tag }) => _tag)
    .toSorted()

const KNOWN = [...Object.keys(VERDICTS), "CursorUnusable"].toSorted()

describe("verdicts on failures", () => {
  it("there is one for each error class that the entries export, and each class is exported", () => {
    assert.deepStrictEqual(tagsOf(index), KNOWN)
    assert.deepStrictEqual(tagsOf(promise), KNOWN)
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
      Object.entries(VERDICTS).filter(([, { transient }]) => transient).map(([tag]) => tag).toSorted(),
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
    "%s is no failure of svcd",
    (other) => {
      assert.strictEqual(httpStatus(other), 500)
      assert.isFalse(isTransient(other))
    }
  )
})
