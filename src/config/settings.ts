import type * as Redacted from "effect/Redacted"
import type { OPTIONS } from "./options.ts"
import type { SettingsIn } from "./settingsIn.ts"

/** The settings of a daemon as its sources have them: each option at its path in the table. Paths are absolute. */
export interface GivenSettings extends SettingsIn<typeof OPTIONS> {}

/** The settings in force: complete, and with what follows from other options (`inForce.ts`). */
export interface Settings extends SettingsIn<typeof OPTIONS, "discover" | "dnsseed" | "verifythreads"> {}

/** The parts that services take as they are. */
export type AnswerSettings = Settings["answers"]
export type PeerSettings = Settings["peers"]
export type WalletSettings = Settings["wallet"]

export interface Credentials {
  readonly user: string
  readonly password: Redacted.Redacted<string>
}

export const credentialsOf = (
  { rpcPassword: password, rpcUser: user }: Pick<Settings["rpc"], "rpcPassword" | "rpcUser">
): Credentials | undefined => user === undefined || password === undefined ? undefined : { user, password }
