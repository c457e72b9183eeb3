// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// Listens, and builds each connection's pipeline: gate, SNI reader, TLS, HTTP, collector.
struct HTTPListener<State: ServerState>: Sendable {
  /// The bytes that an HTTP/2 client may send ahead on a stream: with HTTP's default of 64 KiB, large bodies are slow.
  private static var streamWindow: Int { 1 << 20 }

  private let state: Watched<State>
  private let configuration: ServerConfiguration
  private let service: HTTPService
  private let tls: ServerTLS?

  init(state: Watched<State>, configuration: ServerConfiguration, service: HTTPService) throws {
    self.state = state
    self.configuration = configuration
    self.service = service
    tls = try ServerTLS(configuration)
  }

  func listen() async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in initialise(channel) }
      .bind(host: configuration.address.description, port: configuration.port)
      .get()
  }

  private func initialise(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let connection = state.change({ $0.log.accept(channel) }) else { return channel.close() }
    channel.closeFuture.whenComplete { _ in
      state.change { $0.log.end(connection) }
    }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(ConnectionGate())
      guard !state.read({ $0.log.isMute }) else { return }
      guard let tls else {
        return configuration.httpVersions == [.http2]
          ? try addHTTP2(channel, connection) : try addHTTP1(channel, connection)
      }
      let reader = SNIHandler { result in
        var name: String?
        if case .hostname(let found) = result { name = found }
        update(connection) { $0.serverName = name }
        let context = tls.context(for: name)
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: context), negotiation(channel, connection),
          ])
        }
      }
      try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(reader))
    }
  }

  private func negotiation(
    _ channel: any Channel, _ connection: ServerConnection
  ) -> ApplicationProtocolNegotiationHandler {
    ApplicationProtocolNegotiationHandler { result in
      channel.eventLoop.makeCompletedFuture {
        if let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate() {
          let text = try CertificateMaker.pem(der: certificate.toDERBytes())
          update(connection) { $0.clientCertificate = text }
        }
        switch result {
        case .negotiated("h2"): try addHTTP2(channel, connection)
        default: try addHTTP1(channel, connection)
        }
      }
    }
  }

  private func update(_ connection: ServerConnection, _ change: (inout RecordedConnection) -> Void) {
    state.change { $0.log.update(connection, change) }
  }

  private func addHTTP1(_ channel: any Channel, _ connection: ServerConnection) throws {
    update(connection) { $0.version = .http1 }
    let wire = WireTap()
    try channel.pipeline.syncOperations.addHandler(wire)
    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
    try channel.pipeline.syncOperations.addHandler(
      RequestCollector(connection: connection, service: service, version: .http1, wire: wire))
  }

  private func addHTTP2(_ channel: any Channel, _ connection: ServerConnection) throws {
    update(connection) { $0.version = .http2 }
    let window = connection.number == 1 ? configuration.firstStreamWindow ?? Self.streamWindow : Self.streamWindow
    var settings = NIOHTTP2Handler.ConnectionConfiguration()
    settings.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: configuration.maxConcurrentStreams),
      // NIO's own default.
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
      HTTP2Setting(parameter: .initialWindowSize, value: window),
    ]
    settings.targetWindowSize = 4 * Self.streamWindow
    // The server must be able to send a truncated body.
    settings.contentLengthValidation = .disabled
    // NIO sends GOAWAY after 200 resets in 30 seconds. libcurl 7.88 resets every stream whose body is complete before
    // its end has come, and NIO's codec ends streams with a frame of its own.
    var streams = NIOHTTP2Handler.StreamConfiguration()
    streams.targetWindowSize = window
    streams.streamResetFrameRateLimit.maximumCount = 10_000
    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: settings, streamConfiguration: streams
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers([
          StreamRefuser(), HTTP2FramePayloadToHTTP1ServerCodec(),
          RequestCollector(connection: connection, service: service, version: .http2),
        ])
      }
    }
  }
}
