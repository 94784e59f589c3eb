import { Effect, Either, Redacted } from "effect"
import type { ProgressTerminal } from "../../../src/base/progressBar.ts"
import { run } from "../../../src/programs/cli/cli.ts"
import { Amount } from "../../../src/rpc/json/encodeJson.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { fakeMethod } from "../../support/fakeMethod.ts"
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

export const showing = fakeMethod({
  name: "name_show",
  group: "Names",
  params: { name: Param.string(""), options: Param.optional(Param.json("")) }
}, ({ name, options }) =>
  Effect.succeed({
    name,
    options: options ?? null,
    amount: new Amount(10),
    list: [1, [], {}, { a: "ä\n" }],
    none: null,
    yes: true
  }))

export const nothing = fakeMethod({ name: "nothing", params: {} }, () => Effect.succeed(null))

export const server = testServer({ credentials: CREDENTIALS, methods: [...FAKE_METHODS, showing, nothing] })

export const flags = (port: number): ReadonlyArray<string> => [
  "-rpcaddr",
  `127.0.0.1:${port}`,
  "-rpcuser=cli",
  "--rpcpassword",
  "s3cret"
]

export const failed = (code: number, stderr: string) => ({ code, stdout: "", stderr })
