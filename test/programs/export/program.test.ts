import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { run } from "../../../src/programs/export/program.ts"
import { databaseOf, readExportCommand } from "../../../src/programs/export/settings.ts"

const input = (argv: ReadonlyArray<string>, env: Record<string, string> = {}) => ({
  argv,
  env,
  cwd: "/",
  homedir: "/home/me",
  cores: 2,
  readFile: () => Either.right(undefined),
  version: "1.2.3"
})

const outcome = (...argv: ReadonlyArray<string>) => Effect.runSync(run(input(argv)))

describe("svcd-export", () => {
  it("prints its help and its version", () => {
    assert.match(outcome("--help").stdout, /^Usage: svcd-export postgres:/)
    assert.deepStrictEqual(outcome("-version"), { code: 0, stdout: "svcd-export 1.2.3\n", stderr: "" })
  })

  it("refuses mistakes with status 2, and repeats no word that may be a password", () => {
    for (
      const argv of [
        [],
        ["mysql://me:hunter2@host/db"],
        ["hunter2"],
        ["postgres://hunter2%er@host"],
        ["postgres://host/db", "hunter2"],
        ["postgres://host/db", "-schema", "Hunter2"],
        ["postgres://host/db", `-hunter2${"1".repeat(44)}`],
        ["postgres://host/db", "-loglevel", "loud"]
      ]
    ) {
      const { code, stderr, stdout } = outcome(...argv)
      assert.strictEqual(code, 2, argv.join(" "))
      assert.strictEqual(stdout, "")
      assert.notMatch(stderr, /hunter2/i)
    }
  })

  it("reads the database from the argument or the environment, and shows neither user nor password", () => {
    const read = (argv: ReadonlyArray<string>, env: Record<string, string> = {}) => {
      const command = Either.getOrThrow(readExportCommand(input(argv, env)))
      return command._tag === "Run" ? command.settings : assert.fail(command._tag)
    }
    const settings = read([
      "postgres://me:hunter2@db.example:5433/names",
      "-rpcaddr",
      "10.0.0.2:8336",
      "-schema",
      "main"
    ])
    assert.strictEqual(settings.target.shown, "db.example:5433/names")
    assert.notInclude(JSON.stringify(settings), "hunter2")
    assert.deepInclude(settings, { schema: "main", network: undefined })
    assert.deepInclude(settings.daemon, { host: "10.0.0.2", port: 8336, spareCookieFile: undefined })
    const other = read(["-network", "regtest"], { SVCD_EXPORT_URL: "postgresql:///names?host=/run/pg" })
    assert.strictEqual(other.target.shown, "/run/pg/names")
    assert.strictEqual(other.network, "regtest")
    assert.isDefined(other.daemon.spareCookieFile)
    const shown = (url: string, env: Record<string, string>) => Either.getOrThrow(databaseOf(url, { env })).shown
    assert.strictEqual(shown("postgres:///", { PGHOST: "db", PGDATABASE: "names" }), "db/names")
    assert.strictEqual(shown("postgres://me@host", {}), "host/me")
    assert.strictEqual(shown("postgres://m%65@host", {}), "host/me")
    assert.strictEqual(shown("postgres://host", {}), "host/")
  })
})
