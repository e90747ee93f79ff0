
-- Wireshark's dissector of captures of mxgpu. The tables above are made of the
-- device's headers. The layout of a record: mxgpu/capture.h.
local p = Proto("mxgpu", "mxgpu device capture")
local f = p.fields
f.version = ProtoField.uint8("mxgpu.version", "Version")
f.kind = ProtoField.uint8("mxgpu.kind", "Kind", base.DEC, kinds)
f.number = ProtoField.uint16("mxgpu.number", "Queue, vector or event")
f.info = ProtoField.uint32("mxgpu.info", "Info", base.HEX)
f.a = ProtoField.uint64("mxgpu.a", "A", base.HEX)
f.b = ProtoField.uint64("mxgpu.b", "B", base.HEX)
f.register = ProtoField.string("mxgpu.register", "Register")
f.packet = ProtoField.uint16("mxgpu.packet", "Packet", base.DEC, packets)
f.value = ProtoField.string("mxgpu.value", "Value")
f.data = ProtoField.bytes("mxgpu.data", "Data")

local function register_name(offset)
  for _, r in ipairs(registers) do
    local index = (offset - r[2]) / r[4]
    if index >= 0 and index < r[3] and index == math.floor(index) then
      if r[3] > 1 then
        return string.format("%s[%d]", r[1], index), r[2]
      end
      return r[1], r[2]
    end
  end
  return "(no register)", nil
end

-- Without operators of numbers that only some versions of Lua have.
local function register_text(offset, value)
  local name, base_offset = register_name(offset)
  local text = name
  for _, d in ipairs(fields) do
    if d[2] == base_offset then
      local v = math.floor(value / 2 ^ d[3]) % 2 ^ d[4]
      if v ~= 0 then
        text = text .. string.format(d[4] == 1 and " %s" or " %s=%.0f", d[1], v)
      end
    end
  end
  return text
end

-- What stands in the column of a list for each kind, behind its name.
local function summary(kind, buffer, number, info)
  local a, b = buffer(8, 4):le_uint(), buffer(16, 4):le_uint()
  local wide = "0x" .. buffer(8, 8):le_uint64():tohex()
  if kind == "READ" or kind == "WRITE" then
    local text = register_text(a, b)
    return text .. (kind == "READ" and " -> " or " <- ") ..
      string.format("0x%x", b)
  elseif kind == "DOORBELL" then
    return string.format("queue %d value %d", number, a) ..
      (info == 1 and ", which is disabled" or "")
  elseif kind == "QUEUE" then
    return string.format("queue %d %s index %d", number,
      queue_events[info % 256] or "(unknown)", a)
  elseif kind == "PACKET_START" or kind == "PACKET_END" then
    return string.format("queue %d index %d %s", number, a,
      packets[info % 256] or "(unknown packet)")
  elseif kind == "IRQ" then
    return string.format("vector %d", number)
  elseif kind == "DMA_READ" or kind == "DMA_WRITE" or kind == "DMA_MAP" then
    return string.format("%s, %d bytes", wide, b) ..
      (info % 2 == 1 and ", refused" or "")
  elseif kind == "REQUEST" and buffer:len() >= 28 then
    local op = buffer(24, 4):le_uint()
    return string.format("%d %s", a, messages[op] or "(unknown message)")
  elseif kind == "ANSWER" and buffer:len() >= 28 then
    return string.format("%d status %d", a, buffer(24, 4):le_uint())
  elseif kind == "CONSOLE" and buffer:len() > 24 then
    return buffer(24):string()
  elseif kind == "EVENT" then
    return (events[number] or string.format("%d", number)) .. " " .. wide ..
      string.format(" 0x%x", b)
  end
end

-- Who speaks to whom.
local from_host = {READ = true, WRITE = true, DOORBELL = true, REQUEST = true}
local from_device = {DMA_READ = true, DMA_WRITE = true, DMA_MAP = true,
                     IRQ = true, ANSWER = true}

local function add_packet(tree, data)
  local kind = data(0, 2):le_uint()
  local sub = tree:add_le(f.packet, data(0, 2))
  for _, d in ipairs(packet_fields) do
    if d[1] == kind then
      for i = 0, d[5] - 1 do
        local part = data(d[3] + i * d[4], d[4])
        local v = d[4] == 8 and part:le_uint64() or part:le_uint()
        local text = d[6] ~= "HEX" and tostring(v) or
          d[4] == 8 and "0x" .. v:tohex() or string.format("0x%x", v)
        local name = d[5] > 1 and string.format("%s[%d]", d[2], i) or d[2]
        sub:add(f.value, part, name .. "=" .. text)
      end
    end
  end
end

function p.dissector(buffer, pinfo, tree)
  if buffer:len() < 24 then
    return 0
  end
  local kind = kinds[buffer(1, 1):uint()] or "(unknown)"
  local number = buffer(2, 2):le_uint()
  local offset = buffer(8, 4):le_uint()
  local text = kind
  local sub = tree:add(p, buffer())
  sub:add(f.version, buffer(0, 1))
  sub:add(f.kind, buffer(1, 1))
  sub:add_le(f.number, buffer(2, 2))
  sub:add_le(f.info, buffer(4, 4))
  sub:add_le(f.a, buffer(8, 8))
  sub:add_le(f.b, buffer(16, 8))
  if kind == "READ" or kind == "WRITE" then
    sub:add(f.register, buffer(8, 4),
      register_text(offset, buffer(16, 4):le_uint()))
  end
  local more = summary(kind, buffer, number, buffer(4, 4):le_uint())
  text = text .. (more and " " .. more or "")
  if kind == "PACKET_START" and buffer:len() >= 88 then
    add_packet(sub, buffer(24, 64))
  elseif buffer:len() > 24 then
    sub:add(f.data, buffer(24))
  end
  pinfo.cols.protocol = "mxgpu"
  pinfo.cols.info = text
  if from_host[kind] or from_device[kind] then
    pinfo.cols.src = from_host[kind] and "host" or "device"
    pinfo.cols.dst = from_host[kind] and "device" or "host"
  end
  return buffer:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, p)
