import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Readable } from "node:stream"
import { DaemonUnreachable } from "../../../src/client/errors.ts"
import { run as runMail } from "../../../src/programs/mail/program.ts"
import type { ProgramOutcome } from "../../../src/programs/tool/outcome.ts"
import { run as runWallet } from "../../../src/programs/wallet/program.ts"
import { inputOf } from "../../config/input.ts"
import { hasBash, offers } from "../../support/bashCompletions.ts"

const ENV = { SVCD_NETWORK: "regtest", SVCD_DATA_DIR: "/nowhere/svcd" }

const NO_TERMINAL = { secret: () => Effect.succeed(undefined), line: () => Effect.succeed(undefined) }

const wallet = (argv: ReadonlyArray<string>) =>
  runWallet({ ...inputOf(argv, { env: ENV }), version: "9.9.9", prompt: NO_TERMINAL, stdin: () => Readable.from([]) })

const mail = (argv: ReadonlyArray<string>) =>
  runMail({
    ...inputOf(argv, { env: ENV }),
    version: "9.9.9",
    hostname: "relay.example.org",
    names: () => Layer.fail(new DaemonUnreachable({ address: "127.0.0.1:5", reason: "connection refused" }))
  })

type Program = (argv: ReadonlyArray<string>) => Effect.Effect<ProgramOutcome>
const PROGRAMS: Readonly<Record<string, Program>> = { "svcd-mail": mail, "svcd-wallet": wallet }

const runLine = (line: string): Effect.Effect<ProgramOutcome> => {
  const [name = "", ...argv] = line.split(" ")
  const program = PROGRAMS[name]
  return program === undefined ? Effect.dieMessage(`there is no ${name}`) : program(argv)
}

describe("the arguments of svcd-mail and svcd-wallet", () => {
  it.effect.each<readonly [line: string, stderr: string]>([
    ["svcd-mail lookup alice --jsno", "svcd-mail: --jsno: unknown flag; did you mean -json?"],
    ["svcd-mail lookup --jsno alice", "svcd-mail: --jsno: unknown flag; did you mean -json?"],
    ["svcd-mail -netwrok regtest lookup alice", "svcd-mail: -netwrok: unknown flag; did you mean -network?"],
    ["svcd-mail lokup alice", "svcd-mail: \"lokup\" is not a command; did you mean lookup?"],
    [
      "svcd-mail lookup alice bob",
      "svcd-mail: lookup: too many arguments; quote a text with spaces"
    ],
    ["svcd-mail lookup", "svcd-mail: an argument is missing: <label>"],
    ["svcd-mail register alice", "svcd-mail: --forward: is missing"],
    [
      "svcd-mail lookup alice --json=maybe",
      "svcd-mail: --json: is a switch; its value must be 0, 1, true or false"
    ],
    ["svcd-mail serve --upstream a --domain=", "svcd-mail: --domain: must not be empty"],
    ["svcd-wallet address --lable old", "svcd-wallet: --lable: unknown flag; did you mean -label?"],
    ["svcd-wallet import-key --passwrod x", "svcd-wallet: --passwrod: unknown flag; did you mean -password?"],
    ["svcd-wallet adress", "svcd-wallet: \"adress\" is not a command; did you mean address?"],
    ["svcd-wallet address --words 12", "svcd-wallet: --words: is not a flag of address"],
    ["svcd-wallet export --phrase --password", "svcd-wallet: -password: needs a value (PASSPHRASE)"],
    [
      "svcd-wallet encrypt --password --wallet x",
      "svcd-wallet: -password: needs a value, and \"--wallet\" is a flag; if you mean it, write -password=VALUE"
    ],
    ...[
      "svcd-wallet import-key ---S3CRET",
      "svcd-wallet import-key -=S3CRET",
      "svcd-wallet import-key --=S3CRET",
      "svcd-wallet import-key -- -S3CRET",
      "svcd-wallet ---S3CRET",
      "svcd-wallet create ---S3CRET",
      "svcd-mail lookup ---S3CRET",
      "svcd-mail serve --upstream a --=S3CRET"
    ].map((line) =>
      [
        line,
        `${line.split(" ", 1)[0]}: an argument begins with a hyphen but is not a flag; write flags as -flag or --flag`
      ] as const
    ),
    ["svcd-wallet --wizard", "svcd-wallet: --wizard: unknown flag"],
    ["svcd-wallet balance --log-level debug", "svcd-wallet: --log-level: unknown flag"],
    ["svcd-wallet --completions tcsh", "svcd-wallet: --completions: \"tcsh\" is not one of bash, zsh, fish"]
  ])("refuse %s", ([line, stderr]) =>
    Effect.map(runLine(line), (outcome) => {
      assert.deepStrictEqual(outcome, { code: 2, stdout: "", stderr: `${stderr}\n` })
    }))

  it.effect.each([
    "svcd-mail lookup alice -rpcaddr 127.0.0.1:5 --json",
    "svcd-mail lookup -rpcaddr=127.0.0.1:5 alice --json",
    "svcd-mail --json --rpcaddr=127.0.0.1:5 lookup alice",
    // A switch takes no word behind it for its value.
    "svcd-mail lookup --json true",
    "svcd-mail lookup --json=0 serve"
  ])("may be in any order: %s", (line) =>
    Effect.map(runLine(line), ({ code, stderr }) => {
      assert.strictEqual(code, 1)
      assert.match(stderr, /^svcd-mail: .*127\.0\.0\.1:5/)
    }))
})

describe("--completions", () => {
  it.effect.each(
    Object.entries(PROGRAMS).flatMap(([name, program]) =>
      ["bash", "zsh", "fish"].map((shell) => ({ name, program, shell }))
    )
  )(
    "prints a script of $name for $shell",
    ({ name, program, shell }) =>
      Effect.map(program(["--completions", shell]), ({ code, stderr, stdout }) => {
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, shell === "zsh" ? new RegExp(`^#compdef ${name}\n`) : new RegExp(`complete .*${name}\\b`))
        assert.match(stdout, shell === "fish" ? / -l network / : /--network\b/)
        assert.notMatch(stdout, shell === "fish" ? /-l wizard/ : /opts=".*--wizard|'--wizard\[/)
      })
  )

  it.effect.skipIf(!hasBash)("completes sub-commands, flags and their words in bash", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [line: string, offered: string]> = [
        ["svcd-wallet im", "import-key"],
        ["svcd-wallet import-key --la", "--label"],
        ["svcd-wallet address --type b", "bech32 bech32m"],
        ["svcd-wallet export --p", "--phrase --private --password"],
        ["svcd-wallet create --network re", "regtest"],
        ["svcd-wallet --v", "--version"],
        ["svcd-wallet balance --v", ""],
        ["svcd-mail lo", "lookup"],
        ["svcd-mail serve --smtp", "--smtpuser --smtppass --smtppassfile"],
        ["svcd-mail serve --loglevel w", "warn"]
      ]
      for (const [name, program] of Object.entries(PROGRAMS)) {
        const { stdout } = yield* program(["--completions", "bash"])
        const own = cases.filter(([line]) => line.startsWith(`${name} `))
        const offered = offers(stdout, own.map(([line]) => line.split(" ")))
        assert.deepStrictEqual(offered.map((words) => words.join(" ")), own.map(([, words]) => words))
      }
    }))
})
