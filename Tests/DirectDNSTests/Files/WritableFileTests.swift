// SPDX-License-Identifier: Apache-2.0
import CDirectDNSFiles
import Testing

@testable import DirectDNS

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct WritableFileTests {
  private func written(_ file: WritableFile, _ text: String) throws -> WritableFile {
    try file.write(Array(text.utf8))
    return file
  }

  @Test(arguments: [
    ("a/file", ".part", "a/file.part"), ("file", ".part", "file.part"),
    ("a/" + String(repeating: "x", count: 250), ".part", "a/" + String(repeating: "x", count: 250) + ".part"),
    ("a/" + String(repeating: "x", count: 251), ".part", "a/" + String(repeating: "x", count: 250) + ".part"),
    (String(repeating: "é", count: 127), ".part", String(repeating: "é", count: 125) + ".part"),
    (String(repeating: "d/", count: 300) + "f", ".part", String(repeating: "d/", count: 300) + "f.part"),
  ])
  func `a draft's name is cut where a folder cannot have it`(_ path: String, _ ending: String, _ draft: String) {
    #expect(WritableFile.draftPath(of: path, ending: ending) == draft)
  }

  // MARK: New files

  @Test func `a new file is made where nothing is, and nowhere else`() throws {
    let folder = try FileFolder()
    try folder.write("theirs", to: "file")
    try folder.write("theirs", to: "target")
    #expect(unsafe symlink("target", folder / "link") == 0 && symlink("none", folder / "nowhere") == 0)
    close(folder.makeFIFO("fifo"))
    for name in ["file", "link", "nowhere", "fifo"] {
      let failure = #expect(throws: FileFailure.self) { try WritableFile.new(folder / name, mode: 0o600) }
      #expect(failure?.reason == "File exists" && failure?.forbidsNewFiles == true)
    }
    try written(.new(folder / "new", mode: 0o600), "ours").end()
    #expect(try folder.read("new") == "ours" && folder.kind("new") == S_IFREG | 0o600)
    #expect(try folder.read("file") == "theirs" && folder.read("target") == "theirs")
    #expect(folder.kind("none") == 0)
  }

  @Test(arguments: [0o600, 0o640, 0o666, 0o444, 0o755] as [UInt32])
  func `a draft has the rights of the file whose place it takes, whatever the umask is`(_ mode: UInt32) throws {
    let folder = try FileFolder()
    try folder.write("old", to: "file", mode: mode)
    guard case .file(let rights, hasOtherNames: false) = try PathTarget(folder / "file") else {
      Issue.record("no file")
      return
    }
    let draft = try WritableFile.draft(folder / "draft", inPlaceOf: rights)
    #expect(folder.kind("draft") == S_IFREG | mode)
    try written(draft, "new").end(inPlaceOf: folder / "file")
    #expect(try folder.read("file") == "new" && folder.kind("file") == S_IFREG | mode)
    #expect(try folder.names == ["file"])
  }

  @Test func `a draft whose rights cannot be had is not left behind`() async {
    // In a process of its own, which gives up what root may do: root gets any rights.
    await #expect(processExitsWith: .success) {
      let folder = try FileFolder()
      if geteuid() == 0 {
        #expect(unsafe chown(folder.path, 65_534, 65_534) == 0)
        #expect(setgroups(0, nil) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
      }
      let rights = FileRights(owner: geteuid(), group: 0, mode: 0o640)
      #expect(throws: FileFailure.self) { try WritableFile.draft(folder / "draft", inPlaceOf: rights) }
      #expect(try folder.names == [])
    }
  }

  @Test func `a draft that another has replaced is not put in place, nor removed`() throws {
    let folder = try FileFolder()
    try folder.write("old", to: "file")
    let draft = try written(.new(folder / "draft", mode: 0o600), "mine")
    #expect(unsafe unlink(folder / "draft") == 0)
    try folder.write("theirs", to: "draft")
    let failure = #expect(throws: FileFailure.self) { try draft.end(inPlaceOf: folder / "file") }
    #expect(failure?.reason == "another process writes it, too")
    draft.remove()
    #expect(try folder.read("file") == "old" && folder.read("draft") == "theirs")
  }

  @Test func `a draft that cannot take its place can still be removed`() throws {
    let folder = try FileFolder()
    #expect(unsafe mkdir(folder / "taken", 0o700) == 0)
    let draft = try written(.new(folder / "draft", mode: 0o600), "new")
    let failure = #expect(throws: FileFailure.self) { try draft.end(inPlaceOf: folder / "taken") }
    #expect(failure?.reason == "putting it in place: Is a directory")
    draft.remove()
    #expect(try folder.names == ["taken"])
  }

  @Test(arguments: [("file", "."), ("/file", "/"), ("one/file", "one"), ("/one/two/file", "/one/two")])
  func `the folder that has a file's name is synced with it`(_ path: String, _ folder: String) {
    #expect(WritableFile.folder(of: path) == folder)
  }

  @Test func `a folder that its file system cannot sync is no failure, and one that is not synced is`() throws {
    // What has nothing to sync says so (fsync(2)), and a FIFO has nothing.
    let folder = try FileFolder()
    let fifo = folder.makeFIFO("fifo")
    defer { close(fifo) }
    #expect(fsync(fifo) == -1 && [EINVAL, ENOTSUP].contains(errno))
    try WritableFile.syncFolder(fifo)
    let failure = #expect(throws: FileFailure.self) { try WritableFile.syncFolder(-1) }
    #expect(failure?.reason == "syncing its folder: Bad file descriptor")
  }

  @Test func `a draft takes its place in a folder that may be written to and not be read`() throws {
    let folder = try FileFolder()
    try folder.write("old", to: "file")
    #expect(unsafe chmod(folder.path, 0o300) == 0)
    defer { _ = unsafe chmod(folder.path, 0o700) }
    try written(.new(folder / "draft", mode: 0o600), "new").end(inPlaceOf: folder / "file")
    #expect(try folder.read("file") == "new")
  }

  // MARK: What is written in place

  @Test func `a FIFO, a device and what a link leads to are written, and stay what they are`() throws {
    let folder = try FileFolder()
    let reader = folder.makeFIFO("fifo")
    defer { close(reader) }
    try written(.inPlace(folder / "fifo", isLink: false, isPrivate: true), "one").end()
    #expect(FileFolder.drain(reader) == "one" && folder.kind("fifo") & S_IFMT == S_IFIFO)
    try folder.write("a longer text", to: "target")
    #expect(unsafe symlink("target", folder / "link") == 0 && symlink("none", folder / "nowhere") == 0)
    try written(.inPlace(folder / "link", isLink: true, isPrivate: false), "two").end()
    #expect(try folder.read("target") == "two" && folder.kind("target") == S_IFREG | 0o644)
    try written(.inPlace(folder / "link", isLink: true, isPrivate: true), "three").end()
    #expect(try folder.read("target") == "three" && folder.kind("target") == S_IFREG | 0o600)
    try written(.inPlace(folder / "nowhere", isLink: true, isPrivate: true), "four").end()
    #expect(try folder.read("none") == "four" && folder.kind("none") == S_IFREG | 0o600)
    #expect(folder.kind("link") & S_IFMT == S_IFLNK && folder.kind("nowhere") & S_IFMT == S_IFLNK)
    guard folder.makeDevice("null") else { return }
    try written(.inPlace(folder / "null", isLink: false, isPrivate: true), "five").end()
    #expect(folder.kind("null") == S_IFCHR | 0o666)
  }

  @Test func `a link that has come meanwhile is not followed`() throws {
    let folder = try FileFolder()
    try folder.write("theirs", to: "target")
    #expect(unsafe symlink("target", folder / "link") == 0)
    #expect(throws: FileFailure.self) { try WritableFile.inPlace(folder / "link", isLink: false, isPrivate: false) }
    #expect(try folder.read("target") == "theirs")
  }

  @Test(arguments: ["/dev/fd/", "/proc/self/fd/", "//dev/./fd/"])
  func `an own descriptor is added to, and nothing else of its file changes`(_ names: String) throws {
    #if !canImport(Glibc)
      guard names != "/proc/self/fd/" else { return }
    #endif
    let folder = try FileFolder()
    try folder.write("old ", to: "file")
    let own = unsafe open(folder / "file", O_WRONLY)
    defer { close(own) }
    #expect(lseek(own, 0, SEEK_END) == 4)
    let path = "\(names)\(own)"
    guard case .inPlace(isLink: true) = try PathTarget(path) else {
      Issue.record("it is not a descriptor of ours")
      return
    }
    let file = try written(.inPlace(path, isLink: true, isPrivate: true), "one ")
    #expect(file.length == nil)
    file.note = "a note"
    #expect(file.note == nil)
    #expect(throws: FileFailure.self) { try file.startOver() }
    try file.end()
    // The descriptor itself stays open, at the end.
    #expect(unsafe write(own, "two", 3) == 3)
    #expect(try folder.read("file") == "old one two" && folder.kind("file") == S_IFREG | 0o644)
  }

  // MARK: Going on

  @Test func `a draft is continued where it is a file of ours, and no link, no second name and no FIFO`() throws {
    let folder = try FileFolder()
    #expect(try WritableFile.draftToContinue(folder / "none")?.length == nil)
    try folder.write("012", to: "draft", mode: 0o600)
    let draft = try #require(try WritableFile.draftToContinue(folder / "draft"))
    #expect(draft.length == 3)
    try written(draft, "345").end()
    #expect(try folder.read("draft") == "012345")
    #expect(unsafe symlink("draft", folder / "link") == 0)
    close(folder.makeFIFO("fifo"))
    #expect(try WritableFile.draftToContinue(folder / "link")?.length == nil)
    #expect(try WritableFile.draftToContinue(folder / "fifo")?.length == nil)
    #expect(unsafe link(folder / "draft", folder / "second") == 0)
    #expect(try WritableFile.draftToContinue(folder / "draft")?.length == nil)
    // One that the user has named is.
    #expect(try WritableFile.toContinue(folder / "draft")?.length == 6)
    #expect(try WritableFile.toContinue(folder / "link")?.length == 6)
    #expect(try WritableFile.toContinue(folder / "fifo")?.length == nil)
    #expect(try WritableFile.toContinue(folder / "none")?.length == nil)
    guard geteuid() == 0 else { return }
    try folder.write("theirs", to: "planted")
    #expect(unsafe chown(folder / "planted", 12345, 12345) == 0)
    #expect(try WritableFile.draftToContinue(folder / "planted")?.length == nil)
  }

  @Test func `a name that the system would cut is none`() throws {
    let folder = try FileFolder()
    let failure = #expect(throws: FileFailure.self) { try WritableFile.new(folder / "file\0zzz", mode: 0o600) }
    #expect(failure?.reason.contains("NUL") == true)
  }

  @Test func `a note stays with its file until it is taken away`() throws {
    let folder = try FileFolder()
    let file = try WritableFile.new(folder / "file", mode: 0o600)
    #expect(file.note == nil)
    let probe = unsafe open(folder / "file", O_RDONLY | O_CLOEXEC)
    defer { close(probe) }
    if unsafe directdns_set_attribute(probe, "user.directdns.probe", "x", 1) != 0 {
      try Test.cancel("the file system has no attributes of users (xattr(7)): error \(errno)")
    }
    file.note = "1 10 \"v1\""
    #expect(file.note == "1 10 \"v1\"")
    try file.end(inPlaceOf: folder / "other")
    let again = try #require(try WritableFile.toContinue(folder / "other"))
    #expect(again.note == "1 10 \"v1\"")
    again.note = "shorter"
    #expect(again.note == "shorter")
    again.note = nil
    #expect(again.note == nil)
  }
}
