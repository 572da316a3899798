#!/usr/bin/env node
/**
 * The command `caduceus`. Checks the Node.js version before anything is loaded: on an older one the database library crashes the
 * process without a word.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `caduceus needs Node.js 22.18 or newer; this is ${process.versions.node}. In a checkout, "npm start" brings its own.\n`,
  );
  process.exit(1);
}

const { main } = await import('./main.ts');
await main(process.argv.slice(2));

export {};
