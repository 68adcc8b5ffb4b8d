import { z } from 'zod'
import type { ChangeOrigin, RunChange } from '../../../changes/change.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import type { AgentSettings } from '../../osquery/agent-settings.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { notFound } from '../../../platform/app-error.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import { answer, gzipFile, listRoute, route, type ApiRoute } from '../../../schema/operations.ts'
import { toPackageArchive } from './package-archive.ts'
import { PACKAGE_PLATFORMS, toPackageBundle, type PackageBundle } from './package-bundle.ts'
import type { PackageContents } from './package-contents.ts'
import { ensurePackageSecret } from './package-secret.ts'

export interface PackageRouteDependencies {
  readonly baseUrl: string
  readonly settings: AgentSettings
  readonly runChange: RunChange
  readonly sealer: Sealer
  /** The authority of a certificate that the service issued itself. */
  readonly caPem: string | undefined
}

const packageSchema = z
  .object({
    id: z.string(),
    platform: z.enum(PACKAGE_PLATFORMS),
    url: z
      .string()
      .describe(
        'The address of the archive; the key in the Authorization header needs the permission Download Packages.',
      ),
    version: z.string().describe('Another whenever the content is another.'),
    built_at: timestampSchema,
  })
  .meta({ id: 'Package' })

/** Ids are those of the order of the platforms, and stay. */
interface NumberedPackage {
  readonly id: string
  readonly bundle: PackageBundle
}

const TAGS = { tags: ['Packages'], permission: null } as const

/** Reading and downloading what enrolls devices. */
export function packageRoutes(dependencies: PackageRouteDependencies): ApiRoute[] {
  const { baseUrl, runChange } = dependencies
  const listPackages = (origin: ChangeOrigin) =>
    runChange(origin, async (change) => {
      const { secret, createdAt } = await ensurePackageSecret(change, dependencies.sealer)
      return toPackages({ ...dependencies, enrollSecret: secret, secretCreatedAt: createdAt })
    })
  return [
    listRoute({
      ...TAGS,
      path: '/packages',
      summary: 'List packages',
      description: 'What enrolls the osquery of a device, by platform.',
      item: packageSchema,
      fetch: async ({ window: { afterId, limit }, ...context }) => {
        const packages = await listPackages(toOrigin(context))
        return packages.filter(({ id }) => afterId === undefined || id > afterId).slice(0, limit)
      },
      toJson: (numbered) => toPackageJson(baseUrl, numbered),
    }),
    route({
      ...TAGS,
      method: 'GET',
      path: '/packages/:id',
      summary: 'Show a package',
      responses: { 200: packageSchema },
      handler: async (context) => {
        const packages = await listPackages(toOrigin(context))
        return toPackageJson(baseUrl, pickPackage(packages, context.params.id))
      },
    }),
    route({
      ...TAGS,
      permission: 'Download Packages',
      method: 'GET',
      path: '/packages/:id/download',
      answersHead: false,
      stepUp: true,
      summary: 'Download a package',
      description:
        'A compressed tar archive with an enrollment secret inside; every download is in the audit log.',
      responses: { 200: gzipFile },
      handler: async (context) => {
        const packages = await listPackages(toOrigin(context))
        const { id, bundle } = pickPackage(packages, context.params.id)
        const archive = await toPackageArchive(bundle)
        await runChange(toOrigin(context), (change) => {
          change.recordAudit({
            action: 'package.downloaded',
            target: { type: 'package', id },
            description: `downloaded the package for ${bundle.platform} (${bundle.version})`,
          })
          return Promise.resolve()
        })
        return answer(200, archive, {
          'content-disposition': `attachment; filename="${bundle.folder}.tar.gz"`,
          'cache-control': 'no-store',
        })
      },
    }),
  ]
}

function toPackages(contents: PackageContents): NumberedPackage[] {
  return PACKAGE_PLATFORMS.map((platform, index) => ({
    id: String(index + 1),
    bundle: toPackageBundle(platform, contents),
  }))
}

/** @throws AppError `not_found` */
function pickPackage(packages: readonly NumberedPackage[], id: string): NumberedPackage {
  const found = packages.find((numbered) => numbered.id === id)
  if (found === undefined) throw notFound('package', id)
  return found
}

function toPackageJson(
  baseUrl: string,
  { id, bundle }: NumberedPackage,
): z.input<typeof packageSchema> {
  return {
    id,
    platform: bundle.platform,
    url: `${baseUrl}/packages/${id}/download`,
    version: bundle.version,
    built_at: toTimestamp(bundle.builtAt),
  }
}
