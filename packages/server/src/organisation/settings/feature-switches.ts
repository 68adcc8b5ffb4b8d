import type { Feature } from '../../schema/features.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { getOrganisation } from './organisation-store.ts'

/** The switches of the organisation as this process knows them. */
export interface FeatureSwitches {
  isFeatureEnabled(feature: Feature): Promise<boolean>
  /** The switches may have changed: they are read again at the next question. */
  forget(): void
}

/** Creates the switches; they are read at the first question. */
export function createFeatureSwitches(db: Kysely<Schema>): FeatureSwitches {
  let loading: Promise<ReadonlyMap<Feature, boolean>> | undefined
  const load = async (): Promise<ReadonlyMap<Feature, boolean>> => {
    const organisation = await getOrganisation(db)
    return new Map([
      ['api_writes', organisation.apiWritesEnabled],
      ['ssf', organisation.ssfEnabled],
    ])
  }
  return {
    isFeatureEnabled: async (feature) => {
      loading ??= load()
      try {
        return (await loading).get(feature) === true
      } catch (error) {
        loading = undefined
        throw error
      }
    },
    forget: () => {
      loading = undefined
    },
  }
}
