/* The settings, as doors to the pages that are open. */
import { SimpleGrid } from '@mantine/core'
import {
  CodeIcon,
  DatabaseIcon,
  OrganizationIcon,
  PeopleIcon,
  PersonIcon,
  ShieldLockIcon,
  SignInIcon,
  StackIcon,
  SyncIcon,
  type Icon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { Page } from '../kit/page.tsx'
import { SETTINGS_OPENINGS } from '../shell/navigation.ts'
import { useIsOpen, type Opening } from '../shell/session.ts'
import classes from './settings-page.module.css'
import { texts } from './texts.ts'

interface Door extends Opening {
  readonly to: string
  readonly title: string
  readonly lead: string
  readonly icon: Icon
}

const DOORS: readonly Door[] = [
  {
    to: '/settings/organisation',
    ...SETTINGS_OPENINGS['/settings/organisation'],
    title: texts.organisation,
    lead: texts.organisationLead,
    icon: OrganizationIcon,
  },
  {
    to: '/settings/admins',
    ...SETTINGS_OPENINGS['/settings/admins'],
    title: texts.admins,
    lead: texts.adminsLead,
    icon: PeopleIcon,
  },
  {
    to: '/settings/identity-provider',
    ...SETTINGS_OPENINGS['/settings/identity-provider'],
    title: texts.provider,
    lead: texts.providerLead,
    icon: ShieldLockIcon,
  },
  {
    to: '/settings/sign-in',
    ...SETTINGS_OPENINGS['/settings/sign-in'],
    title: texts.signIn,
    lead: texts.signInLead,
    icon: SignInIcon,
  },
  {
    to: '/settings/enrollment',
    title: texts.enrollment,
    lead: texts.enrollmentLead,
    icon: StackIcon,
    area: 'Enrollment secrets',
    permission: 'Manage Enrollment',
  },
  {
    to: '/settings/developers',
    ...SETTINGS_OPENINGS['/settings/developers'],
    title: texts.developers,
    lead: texts.developersLead,
    icon: CodeIcon,
  },
  {
    to: '/settings/scim',
    ...SETTINGS_OPENINGS['/settings/scim'],
    title: texts.scim,
    lead: texts.scimLead,
    icon: SyncIcon,
  },
  {
    to: '/settings/retention',
    ...SETTINGS_OPENINGS['/settings/retention'],
    title: texts.retention,
    lead: texts.retentionLead,
    icon: DatabaseIcon,
  },
  { to: '/settings/account', title: texts.account, lead: texts.accountLead, icon: PersonIcon },
]

export function SettingsPage() {
  const doors = DOORS.filter(useIsOpen())
  return (
    <Page title={texts.title} lead={texts.lead}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {doors.map(({ to, title, lead, icon: Icon }) => (
          <Link key={to} to={to} className={classes.door}>
            <Icon size={20} />
            <span className={classes.title}>{title}</span>
            <span className={classes.lead}>{lead}</span>
          </Link>
        ))}
      </SimpleGrid>
    </Page>
  )
}
