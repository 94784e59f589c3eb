import type * as Redacted from "effect/Redacted"
import type { OPTIONS } from "./options.ts"
import type { SettingsIn } from "./settingsIn.ts"

/** The settings as their sources have them, each at its path in the table. Paths are absolute. */
export interface GivenSettings extends SettingsIn<typeof OPTIONS> {}

/** The settings in force: complete, with the consequences of other options (`inForce.ts`). */
export interface Settings extends SettingsIn<typeof OPTIONS, "discover" | "dnsseed" | "verifythreads"> {}

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
