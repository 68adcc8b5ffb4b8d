/* One application: what is entered at the other side, its settings, and its end. */
import { Button, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { SignInApplication } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { PageTabs } from '../kit/page-tabs.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import { ApplicationDialogs, type ApplicationDialog } from './application-dialogs.tsx'
import { ApplicationForm } from './application-form.tsx'
import { ApplicationState } from './application-state.tsx'
import { APPLICATIONS_PATH, applicationQuery, MANAGE_PERMISSION } from './gate-queries.ts'
import { GuideSteps } from './guide-steps.tsx'
import { guideOf } from './guides/guides.ts'
import { SessionTable } from './session-table.tsx'
import { TestTab } from './test-tab.tsx'
import { texts } from './texts.ts'

const { application: words } = texts

export function ApplicationPage() {
  const { id } = useParams({ from: '/frame/settings/sign-in/applications/$id' })
  const query = useQuery(applicationQuery(id))
  return (
    <Loaded query={query}>
      {(application) => <LoadedApplication key={id} application={application} />}
    </Loaded>
  )
}

function LoadedApplication({ application }: { readonly application: SignInApplication }) {
  const { tab } = useSearch({ from: '/frame/settings/sign-in/applications/$id' })
  const navigate = useNavigate({ from: '/settings/sign-in/applications/$id' })
  const may = useMay(MANAGE_PERMISSION)
  const [dialog, setDialog] = useState<ApplicationDialog>()
  const { name, enabled } = application
  return (
    <Page
      title={name}
      badge={<ApplicationState application={application} />}
      lead={enabled ? words.leads[application.mode] : words.offLead}
      above={[
        { label: texts.settings, to: '/settings' },
        { label: texts.title, to: APPLICATIONS_PATH },
      ]}
      actions={
        <>
          <Button
            variant="default"
            disabled={!may}
            title={may ? undefined : texts.mayNot}
            onClick={() => setDialog(enabled ? 'off' : 'on')}
          >
            {enabled ? words.switchOff : words.switchOn}
          </Button>
          <MoreMenu label={words.more(name)} isDisabled={!may}>
            <Menu.Item disabled={!hasSecret(application)} onClick={() => setDialog('rotate')}>
              {words.rotate}
            </Menu.Item>
            <Menu.Item color="red" onClick={() => setDialog('delete')}>
              {words.delete}
            </Menu.Item>
          </MoreMenu>
        </>
      }
    >
      <PageTabs
        name={name}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          {
            id: 'setup',
            label: words.setUp,
            render: () => <SetUp application={application} />,
          },
          {
            id: 'test',
            label: texts.test.tab,
            render: () => <TestTab application={application} />,
          },
          {
            id: 'settings',
            label: words.settings,
            render: () => <ApplicationForm application={application} />,
          },
          {
            id: 'sessions',
            label: texts.tabs.sessions,
            render: () => <SessionTable applicationId={application.id} />,
          },
        ]}
      />
      <ApplicationDialogs application={application} open={dialog} onChange={setDialog} />
    </Page>
  )
}

function hasSecret({ token_endpoint_auth_method: method }: SignInApplication): boolean {
  return method === 'client_secret_basic' || method === 'client_secret_post'
}

function SetUp({ application }: { readonly application: SignInApplication }) {
  const guide = guideOf(application)
  const { issuer, client_id: clientId, redirect_uris: uris, created_at: at } = application
  return (
    <>
      <Section title={words.facts}>
        <Facts
          facts={[
            [words.issuer, <Copyable key="issuer" value={issuer} isWhole />],
            [texts.clientId, <Copyable key="id" value={clientId} isWhole />],
            ...uris.map(
              (uri) => [words.redirectUri, <Copyable key={uri} value={uri} isWhole />] as const,
            ),
            [words.method, words.methods[application.token_endpoint_auth_method]],
            [words.assurance, texts.assurances[application.minimum_assurance]],
            [words.created, <Time key="created" at={at} />],
          ]}
        />
      </Section>
      {guide === undefined ? null : (
        <>
          <Section
            title={texts.wizard.steps(guide.name)}
            lead={hasSecret(application) ? words.secretLost : undefined}
          >
            <GuideSteps steps={guide.steps({ application, secret: null })} />
          </Section>
          <Section title={texts.wizard.comesBack}>
            <Text size="sm" maw="76ch">
              {guide.comesBack}
            </Text>
          </Section>
        </>
      )}
    </>
  )
}
