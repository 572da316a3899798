// Installs what package-lock.json names, when it is not installed yet. Plain JavaScript: it runs under whatever Node.js the machine
// has, before the pinned one exists. A stamp inside node_modules, written only after a complete install, says what is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.caduceus-installed');
const lock = join(root, '.install-lock');
const STALE_LOCK_MS = 5000;

const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');

const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

function tryLock() {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** A lock whose process is gone was left by an install that was cut off. One without a number is just being made, unless it is old. */
function dropStaleLock() {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'));
    if (!isRunning(pid)) rmSync(lock, { recursive: true, force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > STALE_LOCK_MS) rmSync(lock, { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function install() {
  process.stderr.write('caduceus: installing dependencies (once)\n');
  // An install that is cut off must not look complete.
  rmSync(stamp, { force: true });
  const npmCli = process.env.npm_execpath;
  // --include=dev: with NODE_ENV=production the pinned Node.js, a dev dependency, would be left out.
  const args = ['ci', '--include=dev', '--loglevel=error', '--no-audit', '--no-fund'];
  const [command, commandArgs] = npmCli ? [process.execPath, [npmCli, ...args]] : ['npm', args];
  const result = spawnSync(command, commandArgs, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) {
    process.stderr.write('caduceus: npm ci failed; see the lines above\n');
    process.exitCode = 1;
    return;
  }
  writeFileSync(stamp, wanted);
}

// Two commands may start at once (npm start and npm test): one installs, the other waits for it.
while (!isInstalled()) {
  if (!tryLock()) {
    dropStaleLock();
    await new Promise((resolve) => setTimeout(resolve, 250));
    continue;
  }
  try {
    if (!isInstalled()) install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  break;
}
