import type { Kysely } from 'kysely'
import { z } from 'zod'
import { AppError, notFound } from '../../../platform/app-error.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import type { Schema } from '../../../schema/schema.ts'
import { findHashAt, findLink, getAuditChain } from '../chain/chain-store.ts'
import { proveConsistency, proveInclusion } from '../tree/merkle-tree.ts'
import { createTreeSource, MissingNode } from '../tree/tree-store.ts'
import { CHAIN_START } from '../audit-entry.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { toVerifierKey } from './checkpoint-keys.ts'
import {
  findLatestCheckpoint,
  listCheckpointKeys,
  type CheckpointKeyRecord,
} from './checkpoint-store.ts'
import { toVerifierKeyText } from './signed-note.ts'

const hashSchema = z.string().describe('SHA-256 in base64.')
const sizeSchema = z.int().describe('The number of entries that it covers, from the first one on.')

const checkpointSchema = z
  .object({
    origin: z.string().describe('Names the log.'),
    size: sizeSchema,
    root_hash: hashSchema,
    signed_at: timestampSchema,
    checkpoint: z
      .string()
      .describe('The checkpoint as it was signed: keep it, or hand it to a witness.'),
    verifier_keys: z
      .array(z.string())
      .describe('The keys that verify checkpoints of this log, the present one first.'),
  })
  .meta({
    id: 'AuditCheckpoint',
    description: 'A signed statement of what the audit log consists of: C2SP tlog-checkpoint.',
  })

const consistencySchema = z
  .object({ from: sizeSchema, to: sizeSchema, hashes: z.array(hashSchema) })
  .meta({
    id: 'AuditConsistencyProof',
    description:
      'Proves that the first `from` entries of a checkpoint over `to` are those of one over `from`: RFC 6962 section 2.1.2.',
  })

const inclusionSchema = z
  .object({
    position: z.int().describe('The place of the entry in the chain, from 1.'),
    size: sizeSchema,
    previous_hash: hashSchema,
    hash: hashSchema.describe('The hash of the entry, which is the leaf of the tree.'),
    hashes: z.array(hashSchema),
  })
  .meta({
    id: 'AuditInclusionProof',
    description:
      'Proves that an entry is one of those that a checkpoint over `size` covers: RFC 6962 section 2.1.1.',
  })

const size = z.coerce.number().int().min(1)
const ACCESS = { method: 'GET', tags: ['Audit logs'], permission: null } as const

/** Reading checkpoints of the audit log, and what they prove. */
export function checkpointRoutes(db: Kysely<Schema>): ApiRoute[] {
  return [
    route({
      ...ACCESS,
      path: '/audit_checkpoints/latest',
      summary: 'Show the latest checkpoint of the audit log',
      responses: { 200: checkpointSchema },
      handler: () => showLatest(db),
    }),
    route({
      ...ACCESS,
      path: '/audit_checkpoints/consistency_proof',
      summary: 'Prove that a checkpoint continues an earlier one',
      mayConflict: true,
      query: z.object({ from: size, to: size }),
      responses: { 200: consistencySchema },
      handler: ({ query }) => showConsistency(db, query),
    }),
    route({
      ...ACCESS,
      path: '/audit_logs/:id/inclusion_proof',
      summary: 'Prove that a checkpoint covers an audit log entry',
      mayConflict: true,
      query: z.object({
        size: size.optional().describe('Default: that of the latest checkpoint.'),
      }),
      responses: { 200: inclusionSchema },
      handler: ({ params, query }) => showInclusion(db, params.id, query.size),
    }),
  ]
}

async function showLatest(db: Kysely<Schema>) {
  const keys = await listCheckpointKeys(db)
  const stored = await findLatest(db, keys)
  const checkpoint = stored && parseCheckpoint(stored.note)
  if (stored === undefined || checkpoint === undefined) {
    throw new AppError('not_found', 'No checkpoint of the audit log has been signed yet.')
  }
  const own = keys.filter(({ origin }) => origin === checkpoint.origin)
  return {
    origin: checkpoint.origin,
    size: checkpoint.size,
    root_hash: checkpoint.root.toString('base64'),
    signed_at: toTimestamp(stored.signedAt),
    checkpoint: checkpoint.note,
    verifier_keys: own.map((key) => toVerifierKeyText(toVerifierKey(key))),
  }
}

/** The latest checkpoint of the present log. */
async function findLatest(db: Kysely<Schema>, [present]: readonly CheckpointKeyRecord[]) {
  return present && (await findLatestCheckpoint(db, present.origin))
}

async function showConsistency(db: Kysely<Schema>, { from, to }: { from: number; to: number }) {
  if (from > to) throw new AppError('invalid_parameter', 'from is not more than to.')
  await assertChained(db, to)
  const hashes = await orCut(proveConsistency(createTreeSource(db), from, to))
  return { from, to, hashes }
}

async function showInclusion(db: Kysely<Schema>, id: string, asked: number | undefined) {
  const link = /^\d{1,18}$/.test(id) ? await findLink(db, id) : undefined
  if (link === undefined) throw notFound('chained audit log entry', id)
  const size = asked ?? (await findLatest(db, await listCheckpointKeys(db)))?.size ?? 0
  if (size < link.position) {
    throw new AppError('conflict', `The entry is number ${link.position}, which is behind ${size}.`)
  }
  const { cutPosition, cutHead } = await assertChained(db, size)
  const before = link.position - 1
  const atBeginning = before === 0 ? CHAIN_START : cutHead
  const previous = before === cutPosition ? atBeginning : await findHashAt(db, before)
  if (previous === undefined) throw cut()
  const hashes = await orCut(proveInclusion(createTreeSource(db), before, size))
  return {
    position: link.position,
    size,
    previous_hash: previous.toString('base64'),
    hash: link.hash.toString('base64'),
    hashes,
  }
}

async function assertChained(db: Kysely<Schema>, wanted: number) {
  const chain = await getAuditChain(db)
  if (wanted > chain.size) {
    throw new AppError(
      'conflict',
      `The chain has ${chain.size} entries, which is less than ${wanted}.`,
    )
  }
  return chain
}

async function orCut(proof: Promise<Buffer[]>): Promise<string[]> {
  try {
    return (await proof).map((hash) => hash.toString('base64'))
  } catch (error) {
    throw error instanceof MissingNode ? cut(error) : error
  }
}

function cut(cause?: unknown): AppError {
  return new AppError('conflict', 'The entries that this would prove have been deleted.', { cause })
}
