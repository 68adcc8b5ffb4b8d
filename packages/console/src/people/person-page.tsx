/* One person: devices, open issues, groups and sign-ins. */
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { getDeprovisionedPeopleById, getPeopleById } from '../api/generated/sdk.gen.ts'
import type { DeprovisionedPerson, Person } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import classes from './person-page.module.css'
import {
  DevicesOfPerson,
  GroupsOfPerson,
  IssuesOfPerson,
  SignInKnowledgeOfPerson,
  SignInsOfPerson,
} from './person-sections.tsx'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/people' }]

export function PersonPage() {
  const { id } = useParams({ from: '/frame/people/$id' })
  const query = useQuery({
    queryKey: ['people', id],
    queryFn: ({ signal }) => findPerson(id, signal),
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(found) => <PersonDetails {...found} />}
    </LoadedPage>
  )
}

interface FoundPerson {
  readonly person: Person | DeprovisionedPerson
  /** The identity provider has removed them. */
  readonly isGone: boolean
}

function PersonDetails({ person, isGone }: FoundPerson) {
  const { id } = person
  return (
    <Page
      title={person.name}
      above={ABOVE}
      badge={isGone ? <StateBadge tone="unknown">{texts.deprovisioned}</StateBadge> : null}
      lead={isGone ? texts.gone : person.email}
    >
      <div className={classes.columns}>
        <div className={classes.column}>
          {isGone ? null : <DevicesOfPerson id={id} />}
          {isGone ? null : <IssuesOfPerson id={id} />}
          <SignInsOfPerson id={id} />
          {isGone ? null : <SignInKnowledgeOfPerson id={id} />}
        </div>
        <div className={classes.column}>
          <Section title={texts.facts}>
            <Facts
              facts={[
                [texts.email, <Copyable value={person.email} />],
                [texts.lastSignIn, <Time at={person.last_authenticated_at} />],
                [texts.created, <Time at={person.created_at} />],
                ...('usernames' in person && person.usernames.length > 0
                  ? [[texts.usernames, person.usernames.join(', ')] as const]
                  : []),
                [texts.id, <Copyable value={person.id} />],
              ]}
            />
          </Section>
          {isGone ? null : <GroupsOfPerson id={id} />}
        </div>
      </div>
    </Page>
  )
}

/** Somebody who has been deprovisioned is found among those. */
async function findPerson(id: string, signal: AbortSignal): Promise<FoundPerson> {
  const request = { path: { id }, signal, throwOnError: true } as const
  try {
    return { person: (await getPeopleById(request)).data, isGone: false }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return { person: (await getDeprovisionedPeopleById(request)).data, isGone: true }
  }
}
