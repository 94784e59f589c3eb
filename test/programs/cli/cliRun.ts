import { Effect, Either, Redacted } from "effect"
import type { ProgressTerminal } from "../../../src/base/progressBar.ts"
import { run } from "../../../src/programs/cli/cli.ts"
import { Amount } from "../../../src/rpc/json/encodeJson.ts"
import { contract } from "../../../src/rpc/method/contract.ts"
import { method } from "../../../src/rpc/method/method.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { ANY_RESULT } from "../../support/anyResult.ts"
import { MUTE, SILENT } from "../../support/liveOutput.ts"
import { FAKE_METHODS, testServer } from "../../support/rpcServer.ts"

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly terminal?: boolean
  readonly progress?: ProgressTerminal
  readonly notes?: Array<string>
}

export const cli = (
  argv: ReadonlyArray<string>,
  { env = {}, files = {}, notes = [], progress, stdin, terminal = false }: Surroundings = {}
) =>
  run({
    argv,
    env,
    readFile: (path) => Either.right(new Map(Object.entries(files)).get(path)),
    homedir: "/home/test",
    cwd: "/home/test/work",
    cores: 1,
    version: "1.2.3",
    screen: { terminal, columns: undefined, colours: false },
    progress,
    note: (line) => void notes.push(line),
    output: SILENT,
    readStdin: stdin === undefined ? Effect.die("standard input was read") : Effect.succeed(stdin),
    prompt: MUTE
  })

export const CREDENTIALS = { user: "cli", password: Redacted.make("s3cret") }

export const showing = method(
  contract({
    name: "name_show",
    group: "Names",
    summary: "",
    params: { name: Param.string(""), options: Param.optional(Param.json("")) },
    results: ANY_RESULT,
    examples: []
  }),
  ({ name, options }) =>
    Effect.succeed({
      name,
      options: options ?? null,
      amount: new Amount(10),
      list: [1, [], {}, { a: "ä\n" }],
      none: null,
      yes: true
    })
)

export const nothing = method(
  contract({ name: "nothing", group: "Hidden", summary: "", params: {}, results: ANY_RESULT, examples: [] }),
  () => Effect.succeed(null)
)

export const server = testServer({ credentials: CREDENTIALS, methods: [...FAKE_METHODS, showing, nothing] })

export const flags = (port: number): ReadonlyArray<string> => [
  "-rpcaddr",
  `127.0.0.1:${port}`,
  "-rpcuser=cli",
  "--rpcpassword",
  "s3cret"
]

export const failed = (code: number, stderr: string) => ({ code, stdout: "", stderr })
