// SPDX-License-Identifier: Apache-2.0
// One request by Node: node client.js get URL | put URL FILE | save URL FILE
//
// Node's fetch heeds http_proxy and https_proxy where NODE_USE_ENV_PROXY is set, from 22.21 and 24.5 on. An older one asks
// the proxy as its documentation shows, by the absolute form and by CONNECT.
'use strict'
const fs = require('fs'), http = require('http'), tls = require('tls')
const { pipeline } = require('stream/promises')
const { Readable } = require('stream')

const [verb, url, file] = process.argv.slice(2)
const [major, minor] = process.versions.node.split('.').map(Number)
const heedsEnvironment = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)
const method = verb === 'put' ? 'PUT' : 'GET'

async function byFetch() {
  const body = verb === 'put' ? fs.createReadStream(file) : undefined
  const response = await fetch(url, { method, body, duplex: 'half' })
  return [response.status, response.body ? Readable.fromWeb(response.body) : Readable.from([])]
}

function answered(request) {
  return new Promise((resolve, reject) => {
    request.on('response', response => resolve([response.statusCode, response])).on('error', reject)
    if (verb === 'put') fs.createReadStream(file).pipe(request)
    else request.end()
  })
}

async function byHand() {
  const target = new URL(url), secure = target.protocol === 'https:'
  const proxy = new URL(secure ? process.env.https_proxy : process.env.http_proxy)
  const headers = {}
  if (proxy.username) {
    const pair = decodeURIComponent(proxy.username) + ':' + decodeURIComponent(proxy.password)
    headers['proxy-authorization'] = 'Basic ' + Buffer.from(pair).toString('base64')
  }
  const place = { host: proxy.hostname, port: proxy.port }
  if (!secure) {
    return answered(http.request({ ...place, method, path: url, headers: { ...headers, host: target.host } }))
  }
  const authority = target.hostname + ':' + (target.port || 443)
  const socket = await new Promise((resolve, reject) => {
    http.request({ ...place, method: 'CONNECT', path: authority, headers })
      .on('connect', (response, socket) => {
        if (response.statusCode === 200) resolve(socket)
        else reject(new Error(`the proxy says ${response.statusCode} ${response.statusMessage}`))
      })
      .on('error', reject).end()
  })
  const secured = tls.connect({ socket, servername: target.hostname, ca: fs.readFileSync(process.env.CA_FILE) })
  await new Promise((resolve, reject) => secured.on('secureConnect', resolve).on('error', reject))
  const path = target.pathname + target.search
  return answered(http.request({ createConnection: () => secured, method, path, headers: { host: target.host } }))
}

async function main() {
  const [status, body] = await (heedsEnvironment ? byFetch() : byHand())
  if (verb === 'save') {
    await pipeline(body, fs.createWriteStream(file))
    console.log(status)
  } else {
    const pieces = []
    for await (const piece of body) pieces.push(piece)
    console.log(status, Buffer.concat(pieces).toString())
  }
}

main().then(() => process.exit(0), error => {
  console.log(`${error}${error.cause ? ': ' + error.cause : ''}`)
  process.exit(1)
})
