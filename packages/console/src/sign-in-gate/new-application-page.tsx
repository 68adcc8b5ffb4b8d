/*
 * The wizard: who sends people here, what has to be known of it, and what is entered there. The secret is shown where
 * it is entered, and never again.
 */
import { Alert, Button, Group, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postSignInApplications } from '../api/generated/sdk.gen.ts'
import type {
  CreateSignInApplicationInput,
  IssuedSignInApplication,
} from '../api/generated/types.gen.ts'
import { Page, Section } from '../kit/page.tsx'
import { giveUpUnsavedWork } from '../kit/held-page.ts'
import { UnsavedWork } from '../kit/unsaved-work.tsx'
import { useAction } from '../kit/use-action.ts'
import { Needs } from '../shell/needs.tsx'
import { APPLICATIONS_PATH, MANAGE_PERMISSION } from './gate-queries.ts'
import { GuideSteps } from './guide-steps.tsx'
import classes from './guide-steps.module.css'
import type { Guide } from './guides/guide.ts'
import { GUIDES } from './guides/guides.ts'
import { NewApplicationForm } from './new-application-form.tsx'
import { texts } from './texts.ts'

const { wizard: words } = texts
const ABOVE = [
  { label: texts.settings, to: '/settings' },
  { label: texts.title, to: APPLICATIONS_PATH },
]

export function NewApplicationPage() {
  const { for: chosen } = useSearch({ from: '/frame/settings/sign-in/new' })
  const guide = GUIDES.find(({ id }) => id === chosen)
  return guide === undefined ? <ChooseGuide /> : <FollowGuide key={guide.id} guide={guide} />
}

function ChooseGuide() {
  return (
    <Page title={words.title} lead={words.lead} above={ABOVE}>
      <Needs permission={MANAGE_PERMISSION} />
      <nav className={classes.guides} aria-label={words.title}>
        {GUIDES.map(({ id, name, lead }) => (
          <Link key={id} to="/settings/sign-in/new" search={{ for: id }} className={classes.guide}>
            <strong>{name}</strong>
            <span>{lead}</span>
          </Link>
        ))}
      </nav>
    </Page>
  )
}

function FollowGuide({ guide }: { readonly guide: Guide }) {
  const navigate = useNavigate()
  const [issued, setIssued] = useState<IssuedSignInApplication>()
  const create = useAction({
    run: async (body: CreateSignInApplicationInput) =>
      (await postSignInApplications({ body, throwOnError: true })).data,
    changes: [['sign_in_applications']],
    showsFailure: true,
    onDone: setIssued,
  })
  if (issued !== undefined) return <EnterThere guide={guide} issued={issued} />
  return (
    <Page
      title={words.titleOf(guide.name)}
      lead={guide.lead}
      above={[...ABOVE, { label: words.title, to: '/settings/sign-in/new' }]}
    >
      <Section title={words.before}>
        <Text size="sm" maw="76ch">
          {guide.before}
        </Text>
      </Section>
      <NewApplicationForm
        guide={guide}
        label={words.create}
        isPending={create.isPending || create.isSuccess}
        error={create.error}
        onSubmit={create.mutate}
        onCancel={() => void navigate({ to: '/settings/sign-in/new' })}
      />
    </Page>
  )
}

interface EnterThereProps {
  readonly guide: Guide
  readonly issued: IssuedSignInApplication
}

function EnterThere({ guide, issued }: EnterThereProps) {
  const navigate = useNavigate()
  const { client_secret: secret, ...application } = issued
  return (
    <Page
      title={words.enterTitle(guide.name)}
      lead={words.enterLead(application.name)}
      above={ABOVE}
    >
      <UnsavedWork isUnsaved={secret !== null} isPending={false} help={words.secretLost} />
      {secret === null ? null : (
        <Alert color="yellow" icon={<AlertIcon />} role="status" p="xs">
          {words.secretOnce}
        </Alert>
      )}
      <Section title={words.steps(guide.name)}>
        <GuideSteps steps={guide.steps({ application, secret })} />
      </Section>
      <Section title={words.comesBack}>
        <Text size="sm" maw="76ch">
          {guide.comesBack}
        </Text>
      </Section>
      <Group>
        <Button
          onClick={() => {
            giveUpUnsavedWork()
            void navigate({
              to: '/settings/sign-in/applications/$id',
              params: { id: application.id },
              search: { tab: 'test' },
            })
          }}
        >
          {words.done}
        </Button>
      </Group>
    </Page>
  )
}
