// SPDX-License-Identifier: Apache-2.0
// One request by Node: node client.js get URL | put URL FILE | save URL FILE | second URL | socket URL
//
// Node's fetch and WebSocket heed http_proxy and https_proxy where NODE_USE_ENV_PROXY is set, from 22.21 and 24.5 on. An older
// one asks the proxy as its documentation shows, by the absolute form and by CONNECT, and its WebSocket has no way to do so
// (75 is its end). `second` gets by HTTP/2, in a tunnel as well; `socket` sends a text and a megabyte and wants both back.
'use strict'
const crypto = require('crypto'), fs = require('fs'), http = require('http'), http2 = require('http2'), tls = require('tls')
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
  const { place, headers } = proxyFor(secure)
  if (!secure) {
    return answered(http.request({ ...place, method, path: url, headers: { ...headers, host: target.host } }))
  }
  const secured = await tunnelled(target)
  const path = target.pathname + target.search
  return answered(http.request({ createConnection: () => secured, method, path, headers: { host: target.host } }))
}

async function bySecondVersion() {
  const target = new URL(url), secured = await tunnelled(target, ['h2'])
  const session = http2.connect(target.origin, { createConnection: () => secured })
  const stream = session.request({ ':path': target.pathname + target.search })
  const status = await new Promise((resolve, reject) => {
    stream.on('response', head => resolve(head[':status'])).on('error', reject)
    session.on('error', reject)
  })
  return [status, stream]
}

function bySocket() {
  const large = crypto.randomBytes(1 << 20)
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url), came = []
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      socket.send('hello')
      socket.send(large)
    }
    socket.onmessage = message => {
      if (came.push(message.data) < 2) return
      socket.close()
      resolve([101, [Buffer.from(came[0] === 'hello' && large.equals(Buffer.from(came[1])) ? 'echoed' : 'changed')]])
    }
    socket.onerror = event => reject(event.error || new Error('the WebSocket failed'))
  })
}

/** Where the environment's proxy is, and what it is told of who asks. */
function proxyFor(secure) {
  const proxy = new URL(secure ? process.env.https_proxy : process.env.http_proxy)
  const headers = {}
  if (proxy.username) {
    const pair = decodeURIComponent(proxy.username) + ':' + decodeURIComponent(proxy.password)
    headers['proxy-authorization'] = 'Basic ' + Buffer.from(pair).toString('base64')
  }
  return { place: { host: proxy.hostname, port: proxy.port }, headers }
}

async function tunnelled(target, ALPNProtocols) {
  const { place, headers } = proxyFor(true)
  const authority = target.hostname + ':' + (target.port || 443)
  const socket = await new Promise((resolve, reject) => {
    http.request({ ...place, method: 'CONNECT', path: authority, headers })
      .on('connect', (response, socket) => {
        if (response.statusCode === 200) resolve(socket)
        else reject(new Error(`the proxy says ${response.statusCode} ${response.statusMessage}`))
      })
      .on('error', reject).end()
  })
  const ca = fs.readFileSync(process.env.CA_FILE)
  const secured = tls.connect({ socket, servername: target.hostname, ca, ALPNProtocols })
  await new Promise((resolve, reject) => secured.on('secureConnect', resolve).on('error', reject))
  return secured
}

async function main() {
  if (verb === 'socket' && !heedsEnvironment) {
    console.log(`Node ${process.versions.node} has no WebSocket that goes through a proxy`)
    process.exit(75)
  }
  const ways = { second: bySecondVersion, socket: bySocket }
  const [status, body] = await (ways[verb] || (heedsEnvironment ? byFetch : byHand))()
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
