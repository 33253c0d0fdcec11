// The words of the settings, and of what the server says of them.
import { add, lang, t } from './i18n.js';

add({
  'settings.lead': ['What can be changed while spillway runs. A change is in force when it is saved; requests under way end as they began.', '运行中可以修改的设置。保存后立即生效；进行中的请求按原设置完成。'],
  'settings.none': ['No entry of this profile has settings that can be changed while it runs.', '这个配置里没有可以在运行中修改的设置。'],
  'settings.unreadable': ['The profile’s files cannot be used as they are:', '配置文件目前无法使用：'],
  'settings.save': ['Save', '保存'],
  'settings.discard': ['Discard', '放弃修改'],
  'settings.discarded': ['The changes are discarded.', '已放弃修改。'],
  'settings.reset': ['Reset', '恢复'],
  'settings.wasReset': ['{field}: back to what it inherits. Not saved yet.', '{field}：已恢复为继承的值，尚未保存。'],
  'settings.saved': ['Saved: {names} ({file}, line {line})', '已保存：{names}（{file} 第 {line} 行）'],
  'settings.cleared': ['Saved: {names}. {file} says nothing about it any more.', '已保存：{names}。{file} 中已不再有它的覆盖。'],
  'settings.asBefore': ['Nothing to write: the files said so already.', '无需写入：文件内容已经如此。'],
  'settings.and': [', ', '、'],
  'settings.notSaved': ['Not saved: {why}', '没有保存：{why}'],
  'settings.notUndone': ['Not undone: {why}', '没有撤销：{why}'],
  'settings.changed': ['Not saved: the files have changed since they were read. What you typed is still here.', '没有保存：文件在读取之后被改动过。你输入的内容还在。'],
  'settings.newer': ['Load the newer values, keep mine', '载入新的值，保留我的修改'],
  'settings.overridden': ['Not saved, for it would have no effect: the {layer} decides this entry ({place}). Change it there.', '没有保存，因为不会生效：这个条目由{layer}决定（{place}）。请到那里修改。'],
  'settings.invalid': ['Not saved. Please look at what is marked ({n}).', '没有保存。请检查标出的问题（{n}）。'],
  'settings.from': ['from the {layer}, {place}', '来自{layer}，{place}'],
  'settings.byDefault': ['not set: the default', '未设置：默认值'],
  'settings.default': ['default: {value}', '默认：{value}'],
  'settings.noValue': ['not set', '未设置'],
  'settings.hidden': ['hidden', '已隐藏'],
  'settings.set': ['set', '已设置'],
  'settings.unset': ['not set', '未设置'],
  'settings.variable': ['from the environment variable', '取自环境变量'],
  'settings.on': ['on', '开启'],
  'settings.unit': ['Unit', '单位'],
  'settings.range': ['{from} to {to}', '{from} 到 {to}'],
  'settings.notNumber': ['not a number', '不是数字'],
  'settings.notJSON': ['not JSON: {why}', '不是 JSON：{why}'],
  'settings.notVariable': ['not the name of a variable', '不是环境变量的名字'],
  'settings.allowed': ['{message} (allowed: {allowed})', '{message}（允许：{allowed}）'],
  'settings.item': ['item {n}: {message}', '第 {n} 项：{message}'],

  'layer.base': ['base file', '基础文件'],
  'layer.profile patch': ['profile’s patch', '配置补丁'],
  'layer.home patch': ['home patch', '主目录补丁'],
  'layer.--patch': ['--patch file', '--patch 文件'],
  'layer.bundle': ['built-in rows', '内置条目'],

  'list.empty': ['The list is empty.', '列表为空。'],
  'list.add': ['Add', '添加'],
  'list.provider': ['Provider', '供应商'],
  'list.model': ['Model', '模型'],
  'list.anyModel': ['its first', '它的第一个'],
  'list.text': ['New item', '新的一项'],
  'list.unknown': ['not in this profile', '不在此配置中'],
  'list.handle': ['{name}, {n} of {of}. Drag, or Alt and an arrow key, to move', '{name}，第 {n} 项，共 {of} 项。拖动或按 Alt 加方向键移动'],
  'list.up': ['Move {name} up', '上移 {name}'],
  'list.down': ['Move {name} down', '下移 {name}'],
  'list.remove': ['Remove {name}', '移除 {name}'],
  'list.moved': ['{name} is now {n} of {of}.', '{name} 现在是第 {n} 项，共 {of} 项。'],
  'list.atEnd': ['{name} cannot move further.', '{name} 不能再移动。'],
  'list.added': ['{name} is added as number {n}.', '{name} 已添加为第 {n} 项。'],
  'list.removed': ['{name} is removed.', '{name} 已移除。'],

  'setting.priority': ['Priority', '优先级'],
  'setting.failureThreshold': ['Failure threshold', '失败阈值'],
  'setting.cooldownMs': ['Cooldown', '冷却时间'],
  'setting.crossModelFallback': ['Other models may answer', '允许换模型'],
  'setting.canary': ['Canary', '灰度'],
  'setting.canary.share': ['Share', '比例'],
  'setting.canary.priority': ['Priority', '优先级'],
  'setting.canary.chains': ['Chains', '链'],
  'setting.holdHeadersMs': ['Hold headers', '暂缓响应头'],
  'setting.keepAliveMs': ['Keep alive', '保活间隔'],
  'setting.checkGrammar': ['Check answers', '检查回答格式'],
});

// What modules say of their settings is English. These are known.
const chinese = {
  'Who is tried, in this order, when the chosen route cannot serve.': '所选路由无法服务时，按此顺序尝试。',
  'Whether another model may answer in the place of the chosen one.': '是否允许由别的模型代替所选模型回答。',
  "Transient failures in a row that open a route's circuit.": '连续多少次瞬时故障后熔断一条路由。',
  'First cooldown of a deterministic failure, in milliseconds. Doubles.': '确定性故障的首次冷却时间；逐次翻倍。',
  'Lists for one provider, or one of its models, in the place of priority.': '针对某个供应商或其某个模型的列表，代替优先级。',
  'How long a stream\'s headers are held back for its first content, in milliseconds. Until then a failure is a real HTTP status.': '等待首个内容时暂缓发送流的响应头的时长；在此之前失败会是真正的 HTTP 状态。',
  'Silence after which a client is sent an event that means nothing, in milliseconds.': '静默多久后向客户端发送一个无意义的事件以保活。',
  'Share of streamed answers whose shape is checked as they are sent; faults are logged and counted, without content.': '流式回答中被检查格式的比例；问题会记录和计数，不含内容。',
  'wrong type': '类型不对', 'not one of the possible values': '不是可选的值', 'too small': '太小', 'too large': '太大',
  'too short': '太短', 'too long': '太长', 'too few items': '项目太少', 'too many items': '项目太多',
  'does not have the right form': '格式不对', missing: '缺少', 'unknown key': '未知的键', 'not a multiple': '不是倍数',
  'no provider named': '没有写供应商', 'a secret is not written into a file': '机密不会写入文件', 'the name of an environment variable': '环境变量的名字', 'a secret would be seen here': '机密在这里会被看到',
};

function known(text) {
  if (lang() !== 'zh' || !text) return text;
  return chinese[text] ?? text.replace(/^at least (\S+)( characters)?$/, '至少 $1').replace(/^at most (\S+)( characters)?$/, '至多 $1');
}

// label is the name of a field for people: ours, else its key in words.
export function label(f) {
  const mine = t(`setting.${f.path}`);
  if (mine !== `setting.${f.path}`) return mine;
  if (f.schema.title) return f.schema.title;
  const words = f.steps.at(-1).replace(/Ms$/, '').replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// about is what the schema says of a field. Files have milliseconds; a time shown
// here has its unit beside it.
export function about(f) {
  const says = known(f.schema.description) ?? '';
  return f.steps.at(-1).endsWith('Ms') ? says.replace(/,? in milliseconds\b/, '') : says;
}

// told is a fault in words. f is the field that it stands beside.
export function told(fault, f) {
  let text = known(fault.message);
  if (fault.allowed) text = t('settings.allowed', { message: text, allowed: known(fault.allowed) });
  const item = f && /^\[(\d+)\]/.exec(fault.path.slice(f.path.length));
  return item ? t('settings.item', { n: Number(item[1]) + 1, message: text }) : text;
}

// fileOf is a file's name without its folder.
export function fileOf(at) {
  return at.file.split(/[/\\]/).at(-1);
}

// join writes the way to a field as the server does.
export function join(steps) {
  return steps.map((s, i) => (/^[A-Za-z_$][\w$-]*$/.test(s) ? (i ? `.${s}` : s) : `[${JSON.stringify(s)}]`)).join('');
}

// within reports whether a path leads to a field, or into it.
export function within(path, field) {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

// find is the value that steps lead to, undefined if there is none.
export function find(value, steps) {
  return steps.reduce((v, s) => (v !== null && typeof v === 'object' && !Array.isArray(v) && Object.hasOwn(v, s) ? v[s] : undefined), value);
}

// equal compares values of JSON whose keys are in the same order.
export function equal(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
