import type { TableSources } from './table-definition.ts'

const NAMESPACE_COLUMNS = 'pid_with_namespace:integer mount_namespace_id'

/** Tables and columns that only Linux has (osquery 5.20). */
export const LINUX_TABLES: TableSources = {
  os_version: NAMESPACE_COLUMNS,
  users: `include_remote:integer pid_with_namespace:integer`,
  groups: `pid_with_namespace:integer`,
  user_ssh_keys: `pid_with_namespace:integer`,
  authorized_keys: `pid_with_namespace:integer`,
  crontab: `pid_with_namespace:integer`,
  dns_resolvers: `pid_with_namespace:integer`,
  etc_hosts: `pid_with_namespace:integer`,
  python_packages: `pid_with_namespace:integer`,
  file: NAMESPACE_COLUMNS,
  npm_packages: NAMESPACE_COLUMNS,
  hash: NAMESPACE_COLUMNS,
  listening_ports: `net_namespace`,
  processes: `cgroup_path`,
  process_open_sockets: `net_namespace`,
  process_namespaces: `pid:integer cgroup_namespace ipc_namespace mnt_namespace net_namespace
    pid_namespace user_namespace uts_namespace`,
  interface_details: `pci_slot`,
  secureboot: `setup_mode:integer`,
  deb_packages: `name version source size:bigint arch revision status maintainer section priority
    admindir ${NAMESPACE_COLUMNS}`,
  rpm_packages: `name version release source size:bigint sha1 arch epoch:integer
    install_time:integer vendor package_group ${NAMESPACE_COLUMNS}`,
  iptables: `filter_name chain policy target protocol:integer src_port dst_port src_ip src_mask
    iniface iniface_mask dst_ip dst_mask outiface outiface_mask match packets:integer
    bytes:integer`,
  selinux_settings: `scope key value`,
  apparmor_profiles: `path name attach mode sha1 sha256`,
  systemd_units: `id description load_state active_state sub_state unit_file_state following
    object_path job_id:bigint job_type job_path fragment_path user source_path`,
  shadow: `password_status hash_alg last_change:bigint min:bigint max:bigint warning:bigint
    inactive:bigint expire:bigint flag:bigint username`,
  kernel_modules: `name size:bigint used_by status address`,
  system_controls: `name oid subsystem current_value config_value type`,
}
