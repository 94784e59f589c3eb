import type { ConnectionSettings } from "../../config/connection.ts"
import type { DocumentRefused } from "../../rpc/DocumentLines.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import type { CliCommandLine } from "./flags.ts"
import type { CliInput, CommandFailed } from "./outcome.ts"

export interface OwnContext {
  readonly daemon: Daemon
  readonly connection: ConnectionSettings
  readonly input: CliInput
  readonly line: CliCommandLine
}

export type CommandError = RpcClientError | DocumentRefused | CommandFailed
