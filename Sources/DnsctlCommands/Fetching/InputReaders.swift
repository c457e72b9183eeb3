// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The options of a `dnsctl fetch` that read standard input: a pure function of the command line.
enum InputReaders {
  /// The names of the options, one for each reading.
  static func of(_ request: RequestFlags, _ output: OutputFlags, _ connection: ConnectionFlags) -> [String] {
    let input = Pipeline.inputMark
    var readers = request.headers.filter { $0 == "@" + input }.map { _ in "-H" }
    for (option, text) in [
      ("-u", request.user), ("-U", connection.proxyUser), ("--pass", connection.keyPassword), ("-w", output.writeOut),
    ] where text == "@" + input { readers.append(option) }
    for part in request.data + request.binaryData + request.jsonData where part.text == "@" + input {
      readers.append(part.option)
    }
    for part in request.encodedData where URLEncodedPart(part.text).content == .file(input) {
      readers.append(part.option)
    }
    for part in request.formParts {
      switch (try? FormPart(part))?.content {
      case .upload(input, _)?, .content(input)?: readers.append(part.option)
      default: break
      }
    }
    readers += request.cookieFiles.filter { $0 == input }.map { _ in "-b" }
    readers += request.uploads.filter { $0 == input }.map { _ in upload }
    return readers
  }

  /// The option that sends it as it comes, instead of reading it first.
  static let upload = "-T"
}

extension CommandContext {
  /// The same context, in which the file `-` has all of standard input.
  ///
  /// - Parameter readers: the options that read it.
  /// - Returns: the context.
  /// - Throws: if there are too many of them, or if it cannot be read.
  func readingInput(for readers: [String]) async throws(CommandError) -> CommandContext {
    guard let reader = readers.first else { return self }
    guard readers.count == 1 else {
      throw CommandError(
        .usage,
        "standard input can be read once, and \(readers.joined(separator: " and ")) read it: name files for the others."
      )
    }
    guard reader != InputReaders.upload else { return self }
    let content: [UInt8]
    do throws(StreamError) { content = try await input.readToEnd() } catch {
      throw CommandError(.streams, "\(reader): standard input cannot be read: \(error.reason).")
    }
    let readFile = readFile
    var context = self
    context.readFile = { path throws(StreamError) in path == Pipeline.inputMark ? content : try readFile(path) }
    return context
  }
}
