import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DataDirectory } from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import { NameEvents } from "../names/events/NameEvents.ts"
import { networks } from "../protocol/networks.ts"
import { nameEventText } from "../rpc/shapes/nameEvent.ts"
import type { WebhookMisconfigured } from "../webhooks/errors.ts"
import type { WebhooksOptions } from "../webhooks/HookSet.ts"
import { readConfigured } from "../webhooks/hookSettings.ts"
import * as Webhooks from "../webhooks/Webhooks.ts"

/** Checks the webhooks of the configuration file, before the node makes or changes anything. */
export const checkWebhooks = (
  { answers: { nameEncoding }, chain: { network }, webhooks }: Pick<Settings, "answers" | "chain" | "webhooks">
): Effect.Effect<void, WebhookMisconfigured> =>
  Effect.asVoid(readConfigured(webhooks.configured, { network: networks[network], nameEncoding }))

/** Messages have events in the form of `/events`. `parts`: other ways to send them. */
export const webhooksLayer = (
  { answers: { nameEncoding, valueEncoding }, chain: { pageSize }, webhooks }: Pick<
    Settings,
    "answers" | "chain" | "webhooks"
  >,
  parts: Pick<WebhooksOptions, "send"> = {}
) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const directory = yield* DataDirectory
    const { params } = yield* NameEvents
    const context = { network: params.network, nameEncoding, valueEncoding, params }
    return Webhooks.layer({
      filename: directory.file("webhooks.db"),
      pageSize,
      choice: webhooks,
      nameEncoding,
      textOf: (event) => nameEventText(context, event),
      ...parts
    }).pipe(Layer.annotateLogs("subsystem", "webhooks"))
  }))
