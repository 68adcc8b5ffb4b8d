import { parseSearch } from '../../platform/search/parse-search.ts'
import { toDeliveryJson } from '../../signals/dispatch/delivery-json.ts'
import { showDelivery } from '../../signals/dispatch/show-delivery.ts'
import {
  DELIVERY_LIST,
  getDeliveryOfEvent,
  listDeliveryLog,
} from '../../signals/dispatch/delivery-read.ts'
import {
  discardDeliveries,
  redriveDeliveries,
  resendDelivery,
  type DeliverySelection,
} from '../../signals/dispatch/redrive-deliveries.ts'
import { findWebhookContent } from '../../signals/webhooks/webhook-event-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { flag, option, parsedOption, wholeOption } from '../option.ts'
import { parseId } from '../parse-arguments.ts'
import { findOwner, OWNER_OPTIONS } from './delivery-owner.ts'
import { countMoved, DISCARD_OPTIONS, SELECTION_OPTIONS } from './moved-deliveries.ts'

const LIMIT_MAX = 10_000

const list = databaseCommand({
  name: 'list',
  description: 'list deliveries, oldest first',
  options: {
    ...OWNER_OPTIONS,
    query: option('--query <search>', 'only what matches, for example state:dead').default(''),
    after: parsedOption('--after <id>', 'begin after this delivery', parseId),
    limit: wholeOption('--limit <n>', 'how many', LIMIT_MAX).default(100),
  },
  async run({ options, services: { db } }) {
    const { destinationId } = await findOwner(db, options, 'show')
    const deliveries = await listDeliveryLog(db, {
      destinationId,
      search: parseSearch(options.query, DELIVERY_LIST.fields),
      window: { afterId: options.after, limit: options.limit },
    })
    return deliveries.map(toDeliveryJson)
  },
  text: (deliveries) =>
    toTable(deliveries, {
      ID: ({ id }) => id,
      EVENT: (delivery) => delivery.event_id,
      STATE: ({ state }) => state,
      ATTEMPTS: ({ attempts }) => String(attempts),
      'NEXT ATTEMPT': (delivery) => delivery.next_attempt_at ?? '-',
      'LAST ERROR': (delivery) => delivery.last_error ?? '',
    }),
})

const show = databaseCommand({
  name: 'show <event>',
  description: 'show every attempt to deliver an event, and what is sent',
  options: OWNER_OPTIONS,
  async run({ args, options, services: { db } }) {
    const { destinationId } = await findOwner(db, options, 'show')
    const delivery = await getDeliveryOfEvent(db, destinationId, args.event)
    const findContent = options.webhook === undefined ? undefined : findWebhookContent
    return showDelivery(db, delivery, findContent)
  },
  text: (delivery) => [
    `${delivery.event_id} is ${delivery.state}.`,
    ...toTable(delivery.attempt_log, {
      NUMBER: ({ number }) => String(number),
      STARTED: (attempt) => attempt.started_at,
      OUTCOME: ({ outcome }) => outcome,
      STATUS: (attempt) => String(attempt.status_code ?? '-'),
      MS: ({ duration }) => String(Math.round(duration.total_ms)),
      'WHAT HAPPENED': ({ error }) => error ?? '',
    }),
  ],
})

const resend = databaseCommand({
  name: 'resend <event>',
  description: 'send an event again, whatever became of it',
  options: OWNER_OPTIONS,
  run: ({ args, change, options }) =>
    change(async (tx) => {
      const owner = await findOwner(tx.tx, options, 'send')
      return resendDelivery(tx, owner, args.event)
    }),
  json: toDeliveryJson,
  text: ({ state }, { args }) => `${args.event} is ${state}.`,
})

const redrive = databaseCommand({
  name: 'redrive',
  description: 'send dead events again',
  options: {
    ...OWNER_OPTIONS,
    ...SELECTION_OPTIONS,
    includeDiscarded: flag('--include-discarded', 'also what was given up'),
  },
  run({ change, options }) {
    const { since, until, event: eventIds } = options
    const states: DeliverySelection['states'] = options.includeDiscarded
      ? ['dead', 'discarded']
      : undefined
    return countMoved(() =>
      change(async (tx) => {
        const owner = await findOwner(tx.tx, options, 'send')
        const selection = { ...owner, since, until, eventIds, states }
        return redriveDeliveries(tx, selection)
      }),
    )
  },
  text: ({ count }) => `${count} events.`,
})

const discard = databaseCommand({
  name: 'discard',
  description: 'give up dead and queued events',
  options: { ...OWNER_OPTIONS, ...DISCARD_OPTIONS },
  run({ change, options, services }) {
    const { since, event: eventIds, state: states } = options
    // What is queued while this runs is left alone.
    const until = options.until ?? services.clock.now()
    return countMoved(() =>
      change(async (tx) => {
        const owner = await findOwner(tx.tx, options, 'discard')
        const selection = { ...owner, since, until, eventIds, states }
        return discardDeliveries(tx, selection)
      }),
    )
  },
  text: ({ count }) => `${count} events.`,
})

/** `heliograph deliveries list|show|resend|redrive|discard`. */
export const definition = commandGroup([list, show, resend, redrive, discard])
