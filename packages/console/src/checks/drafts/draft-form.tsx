import { Button, Checkbox, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../../api/client.ts'
import { patchCustomCheckDraftsById } from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { Fault } from '../../kit/confirm.tsx'
import { MarkdownEditor } from '../../kit/markdown-editor.tsx'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../../kit/meanwhile.tsx'
import { Section } from '../../kit/page.tsx'
import { SqlEditor } from '../../kit/sql-editor.tsx'
import { UnsavedWork } from '../../kit/unsaved-work.tsx'
import { useAction } from '../../kit/use-action.ts'
import classes from '../checks.module.css'
import { texts } from './texts.ts'

interface DraftFormProps {
  readonly draft: CustomCheckDraft
  readonly isDisabled: boolean
}

const PLATFORMS = ['darwin', 'windows', 'linux'] as const

type FormValues = ReturnType<typeof toValues>

const WORDS: FieldWords<FormValues> = {
  name: { label: texts.name },
  description: { label: texts.description },
  issue_title: { label: texts.issueTitle },
  platforms: {
    label: texts.platforms,
    tell: (names) => names.map((name) => texts.platformNames[name]).join(', '),
  },
  osquery_sql: { label: texts.sql },
  requires_primary_key: { label: texts.perRow },
  primary_key_column: { label: texts.keyColumn },
  rationale_template: { label: texts.rationale },
  fix_instructions_template: { label: texts.fix },
  template_data_examples: { label: texts.examples },
  privacy_info: { label: texts.privacyInfo },
  privacy_center_example_data: { label: texts.privacyExample },
}

/** What others change meanwhile stays theirs: only what was changed here is saved. */
export function DraftForm({ draft, isDisabled }: DraftFormProps) {
  const current = toValues(draft)
  const form = useForm({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: (values: FormValues) => {
      const body = Object.fromEntries(Object.entries(values).filter(([name]) => form.isDirty(name)))
      return patchCustomCheckDraftsById({ path: { id: draft.id }, body, throwOnError: true })
    },
    done: texts.saved,
    changes: [['custom_check_drafts'], ['checks']],
    showsFailure: true,
    onDone: (_, values) => {
      form.resetDirty(values)
      meanwhile.setSaved(values)
    },
  })
  const told = fieldFaultsOf(save.error)
  const field = (name: keyof FormValues) => ({
    disabled: isDisabled,
    ...form.getInputProps(name),
    error: told?.[name],
  })
  const passage = (name: 'rationale_template' | 'fix_instructions_template' | 'privacy_info') => ({
    disabled: isDisabled,
    value: form.values[name],
    onChange: (text: string) => form.setFieldValue(name, text),
    error: field(name).error,
  })
  const area = { autosize: true, minRows: 3, maxRows: 14 } as const
  return (
    <form onSubmit={form.onSubmit(meanwhile.whenDecided((values) => save.mutate(values)))}>
      <UnsavedWork isUnsaved={!isDisabled && form.isDirty()} isPending={save.isPending} />
      <div className={classes.stack}>
        <MeanwhileBar meanwhile={meanwhile} words={WORDS} />
        <Section title={texts.details}>
          <Stack gap="md">
            <TextInput label={texts.name} required {...field('name')} />
            <Textarea label={texts.description} {...area} {...field('description')} />
            <TextInput label={texts.issueTitle} {...field('issue_title')} />
            <Checkbox.Group
              label={texts.platforms}
              {...form.getInputProps('platforms')}
              error={told?.['platforms']}
            >
              <Group gap="md" mt={6}>
                {PLATFORMS.map((platform) => (
                  <Checkbox
                    key={platform}
                    value={platform}
                    label={texts.platformNames[platform]}
                    disabled={isDisabled}
                  />
                ))}
              </Group>
            </Checkbox.Group>
          </Stack>
        </Section>
        <Section title={texts.query} lead={texts.queryLead}>
          <Stack gap="md">
            <SqlEditor
              label={texts.sql}
              value={form.values.osquery_sql}
              onChange={(sql) => form.setFieldValue('osquery_sql', sql)}
              isReadOnly={isDisabled}
              error={told?.['osquery_sql']}
              lines={8}
            />
            <Checkbox
              label={texts.perRow}
              disabled={isDisabled}
              {...form.getInputProps('requires_primary_key', { type: 'checkbox' })}
            />
            {form.values.requires_primary_key ? (
              <TextInput label={texts.keyColumn} {...field('primary_key_column')} />
            ) : null}
          </Stack>
        </Section>
        <Section title={texts.reads} lead={texts.readsLead}>
          <Stack gap="md">
            <MarkdownEditor label={texts.rationale} {...passage('rationale_template')} />
            <MarkdownEditor label={texts.fix} {...passage('fix_instructions_template')} />
            <Textarea
              label={texts.examples}
              description={texts.examplesHelp}
              {...area}
              {...field('template_data_examples')}
            />
          </Stack>
        </Section>
        <Section title={texts.privacy}>
          <Stack gap="md">
            <MarkdownEditor label={texts.privacyInfo} {...passage('privacy_info')} />
            <Textarea
              label={texts.privacyExample}
              description={texts.examplesHelp}
              {...area}
              {...field('privacy_center_example_data')}
            />
            <Fault error={save.error} />
            <Group justify="flex-end">
              <Button type="submit" disabled={isDisabled} loading={save.isPending}>
                {texts.save}
              </Button>
            </Group>
          </Stack>
        </Section>
      </div>
    </form>
  )
}

function toValues(draft: CustomCheckDraft) {
  return {
    name: draft.name,
    description: draft.description,
    issue_title: draft.issue_title,
    platforms: draft.platforms,
    osquery_sql: draft.osquery_sql,
    requires_primary_key: draft.requires_primary_key,
    primary_key_column: draft.primary_key_column,
    rationale_template: draft.rationale_template,
    fix_instructions_template: draft.fix_instructions_template,
    template_data_examples: draft.template_data_examples,
    privacy_info: draft.privacy_info,
    privacy_center_example_data: draft.privacy_center_example_data,
  }
}
